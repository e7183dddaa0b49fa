import type { Artifact, Json, Message, Part, Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import { TaskView } from '../following/task-view.ts';
import { type AgentEvent, isInterrupted, isTerminal } from '../replies/agent-reply.ts';

/** A call of a tool, as agents show it in data of a WORKING message: `streamedAgent` of `@batonjs/ai-sdk` does. */
export interface ShownToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly state: 'called' | 'done' | 'failed' | 'denied';
  /** Absent where the agent shows names only. */
  readonly input?: Json;
  readonly output?: Json;
}

/** One piece of an answer, in the order in which a page shows it. */
export type AnswerPart =
  /** The task exists, or is in another state. */
  | { readonly type: 'task'; readonly task: Task }
  /** The agent says what it does at the moment. */
  | { readonly type: 'progress'; readonly message: Message }
  | { readonly type: 'tool'; readonly call: ShownToolCall }
  /** More text of an artifact; that of the artifact `reasoning` is no part of the answer. */
  | { readonly type: 'text'; readonly artifactId: string; readonly delta: string }
  /** The text of an artifact begins again: a turn was run again. `text` takes the place of all that was given. */
  | { readonly type: 'replaced'; readonly artifactId: string; readonly text: string }
  /** A part of an artifact that is no text: data or a file. `artifact` is all of it. */
  | { readonly type: 'content'; readonly artifact: Artifact; readonly part: Part }
  /** The task has ended or waits; or the agent answered with a message. Nothing follows. */
  | { readonly type: 'end'; readonly task?: Task; readonly message?: Message };

/** Where an answer begins in its task. */
export interface AnswerStart {
  /** The id of the user's message that is answered. Earlier messages of the task belong to earlier answers. */
  readonly messageId?: string | undefined;
  /** The lengths of the texts of artifacts, in UTF-16 code units, that earlier answers gave: `lengthsOf` of the task then. */
  readonly given?: Readonly<Record<string, number>> | undefined;
}

/** The lengths of the texts of a task's artifacts, after which the next answer begins. */
export const lengthsOf = (task: Task | undefined): Record<string, number> =>
  Object.fromEntries(
    (task?.artifacts ?? []).map((artifact) => [artifact.artifactId, textOf(artifact).length]),
  );

/**
 * What a page shows of the events of a task, each piece once: also if the stream begins with a task that is half done,
 * or a turn is run again. Pass it the stream of `agent.stream` or `agent.follow`; leaving the loop ends the stream.
 */
export async function* answerParts(
  events: AsyncIterable<AgentEvent>,
  start: AnswerStart = {},
): AsyncGenerator<AnswerPart, void, void> {
  for await (const parts of answerSteps(events, start)) yield* parts;
}

/**
 * The same, with the pieces that one event gives together: a reader of all of them may continue after that event. The
 * event with which a task ends or waits is given with the end of the answer.
 */
export async function* answerSteps(
  events: AsyncIterable<AgentEvent>,
  start: AnswerStart = {},
): AsyncGenerator<readonly AnswerPart[], void, void> {
  const answer = new Answer(start);
  let parts: AnswerPart[] = [];
  for await (const event of events) {
    parts.push(...answer.apply(event));
    if (answer.hasEnded) break;
    if (answer.isAtRest) continue;
    yield parts;
    parts = [];
  }
  const { task, message } = answer.view;
  yield [...parts, { type: 'end', ...(task && { task }), ...(!task && message && { message }) }];
}

/** The events of a followed task until it ends or waits. A stream of `agent.follow` would go on waiting. */
export async function* untilAtRest(
  events: AsyncIterable<AgentEvent>,
): AsyncGenerator<AgentEvent, void, void> {
  for await (const event of events) {
    yield event;
    const { task, statusUpdate } = event;
    const status = task?.status ?? statusUpdate?.status;
    if (status && (isTerminal({ status }) || isInterrupted({ status }))) return;
  }
}

/**
 * Sends the message, or asks for the task, and resolves with the first event: an error of the agent is known before the
 * page is answered.
 */
export async function begun(events: AsyncIterable<AgentEvent>): Promise<AsyncIterable<AgentEvent>> {
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
}

class Answer {
  readonly view = new TaskView();
  readonly #messageId: string | undefined;
  readonly #given: Readonly<Record<string, number>>;
  /** The text of each artifact that was given in this answer. */
  readonly #texts = new Map<string, string>();
  /** How many parts that are no text were given of each artifact. */
  readonly #contents = new Map<string, number>();
  readonly #messages = new Set<string>();
  #state: string | undefined;

  constructor({ messageId, given = {} }: AnswerStart) {
    this.#messageId = messageId;
    this.#given = given;
  }

  /** Whether the task needs the user to authorize something, for which a stream does not end. */
  get hasEnded(): boolean {
    return this.view.task?.status.state === 'TASK_STATE_AUTH_REQUIRED';
  }

  /** Whether the task has ended or waits: its stream ends. */
  get isAtRest(): boolean {
    const { task } = this.view;
    return task !== undefined && (isTerminal(task) || isInterrupted(task));
  }

  *apply(event: AgentEvent): Generator<AnswerPart, void, void> {
    this.view.apply(event);
    const { task } = this.view;
    if (!task) return;
    // The state of a stream that continues after a position is not known at first.
    if (task.status.state !== this.#state && task.status.state !== 'TASK_STATE_UNSPECIFIED') {
      this.#state = task.status.state;
      yield { type: 'task', task };
    }
    if (event.task) {
      for (const message of this.#ownMessages(task)) yield* this.#message(message);
      for (const artifact of task.artifacts ?? []) yield* this.#whole(artifact);
    }
    const { message } = event.statusUpdate?.status ?? event.task?.status ?? {};
    if (message && this.#state === 'TASK_STATE_WORKING') yield* this.#message(message);
    if (event.artifactUpdate) {
      const { artifact, append } = event.artifactUpdate;
      if (append && this.#texts.has(artifact.artifactId)) yield* this.#more(artifact);
      else {
        const known = task.artifacts?.find(({ artifactId }) => artifactId === artifact.artifactId);
        if (known) yield* this.#whole(known);
      }
    }
  }

  /** The agent's messages since the user's message that is answered. */
  #ownMessages({ history = [] }: Task): readonly Message[] {
    const index = history.findLastIndex(({ messageId }) => messageId === this.#messageId);
    return history.slice(index + 1).filter(({ role }) => role === 'ROLE_AGENT');
  }

  *#message(message: Message): Generator<AnswerPart, void, void> {
    if (this.#messages.has(message.messageId)) return;
    this.#messages.add(message.messageId);
    const call = toolCallIn(message);
    yield call ? { type: 'tool', call } : { type: 'progress', message };
  }

  /** An artifact as it is now, of which some may have been given. */
  *#whole(artifact: Artifact): Generator<AnswerPart, void, void> {
    const { artifactId, parts } = artifact;
    const before = this.#texts.get(artifactId);
    const text = textOf(artifact).slice(this.#given[artifactId] ?? 0);
    this.#texts.set(artifactId, text);
    if (before === undefined || text.startsWith(before)) {
      const delta = text.slice(before?.length ?? 0);
      if (delta !== '') yield { type: 'text', artifactId, delta };
    } else yield { type: 'replaced', artifactId, text };
    const contents = parts.filter((part) => !('text' in part));
    const isGiven = this.#given[artifactId] !== undefined && before === undefined;
    const known = isGiven ? contents.length : (this.#contents.get(artifactId) ?? 0);
    this.#contents.set(artifactId, contents.length);
    // An artifact that was replaced has as many parts as before, and other ones.
    for (const part of contents.slice(contents.length > known || isGiven ? known : 0))
      yield { type: 'content', artifact, part };
  }

  /** More of an artifact that was given so far. */
  *#more({ artifactId, parts, ...members }: Artifact): Generator<AnswerPart, void, void> {
    for (const part of parts) {
      if ('text' in part) {
        if (part.text === '') continue;
        this.#texts.set(artifactId, (this.#texts.get(artifactId) ?? '') + part.text);
        yield { type: 'text', artifactId, delta: part.text };
        continue;
      }
      this.#contents.set(artifactId, (this.#contents.get(artifactId) ?? 0) + 1);
      const artifact = this.view.task?.artifacts?.find((each) => each.artifactId === artifactId);
      yield { type: 'content', artifact: artifact ?? { artifactId, parts, ...members }, part };
    }
  }
}

const isState = (value: unknown): value is ShownToolCall['state'] =>
  value === 'called' || value === 'done' || value === 'failed' || value === 'denied';

/** The tool call that a message shows; undefined for other messages. */
function toolCallIn({ parts }: Message): ShownToolCall | undefined {
  for (const part of parts) {
    const shown: Record<string, Json | undefined> = 'data' in part ? Object(part.data) : {};
    const { toolCallId, toolName, state, input, output } = shown;
    if (typeof toolCallId === 'string' && typeof toolName === 'string' && isState(state))
      return {
        toolCallId,
        toolName,
        state,
        ...(input !== undefined && { input }),
        ...(output !== undefined && { output }),
      };
  }
  return undefined;
}
