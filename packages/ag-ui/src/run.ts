import type { AgentClient, AgentEvent } from '@batonjs/client';
import {
  type AnswerStart,
  answerSteps,
  begun,
  latestNote,
  lengthsOf,
  openTask,
  tasksOf,
  taskWith,
  untilAtRest,
} from '@batonjs/client/answers';
import type { Message, Part, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { AgUiMessage } from './events.ts';
import { answerTo, frontEndCalls, interruptsOf } from './interrupts.ts';
import { messagesOf, newMessages, partsOf, toolResults } from './messages.ts';
import { AG_UI } from './metadata.ts';
import type { RunInput } from './run-input.ts';

/** How calls of the agent are made. */
export interface RunSettings {
  readonly signal: AbortSignal;
  readonly followForMs?: number;
  /** The position after which a run that was cut off goes on. */
  readonly lastEventId?: string | undefined;
}

/** What a run gives. */
export interface Run {
  /** The events of the agent; undefined if there is nothing to follow. */
  readonly events: AsyncIterable<AgentEvent> | undefined;
  /** The position of the last event that was read. */
  readonly position: () => string | undefined;
  readonly start: AnswerStart;
  readonly answerId: string;
  /** The messages before the answer. */
  readonly messages: readonly AgUiMessage[];
  /** Whether the front end may have other messages, and gets these first. */
  readonly isFollowed: boolean;
}

/** Sends the new messages of a thread, or follows the task that is open. Rejects with `RunRefused` for wrong answers. */
export async function openRun(agent: AgentClient, input: RunInput, settings: RunSettings): Promise<Run> {
  const { threadId, messages, resume } = input;
  const { signal } = settings;
  const tasks = await tasksOf(agent, threadId, { signal, count: messages.length === 0 ? 100 : 20 });
  const open = openTask(tasks);
  const waiting = open?.status.state.endsWith('_REQUIRED') ? open : undefined;
  const latest = newMessages(messages);
  const last = latest.at(-1);
  // An answer that failed leaves no message behind it.
  const known = latest.findLastIndex(({ id }) => taskWith(tasks, id) !== undefined);
  const asked = latest.slice(known + 1);
  const results = toolResults(messages);
  const sentBefore = taskWith(tasks, resume ? resumeId(resume[0]?.interruptId ?? '') : (last?.id ?? ''));
  if (sentBefore) return follow(agent, sentBefore, tasks, input, settings);
  if (resume && !waiting) throw new RunRefused('NO_INTERRUPT', 'No interrupt of this thread is open');
  if (waiting && (resume || (results.size > 0 && frontEndCalls(waiting).length > 0)))
    return answerQuestion(agent, waiting, input, settings);
  if (waiting && last && interruptsOf(waiting).length > 0)
    throw new RunRefused('INTERRUPT_OPEN', 'This thread waits for answers to its interrupts: send `resume`');
  if (!last) return open ? follow(agent, open, tasks, input, settings) : nothing(tasks, input);
  const parts = asked.flatMap(partsOf);
  return send(agent, { messageId: last.id, parts, task: waiting }, input, settings);
}

/** An error of the front end that ends its run. */
export class RunRefused extends Error {
  override readonly name = 'RunRefused';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The same answer to the same interrupts is sent once. */
const resumeId = (interruptId: string): string => `resume-${interruptId.split('/')[0]}`;

async function answerQuestion(
  agent: AgentClient,
  task: Task,
  input: RunInput,
  settings: RunSettings,
): Promise<Run> {
  const { resume = [], messages } = input;
  const results = toolResults(messages);
  let parts: Part[] | undefined;
  try {
    parts = answerTo(task, resume, results);
  } catch (error) {
    if (A2AError.is(error)) throw new RunRefused('INVALID_RESUME', error.message);
    throw error;
  }
  if (!parts) {
    await agent.cancelTask({ id: task.id }, { signal: settings.signal });
    return follow(agent, task, [task], input, settings);
  }
  return send(
    agent,
    { messageId: resumeId(task.status.message?.messageId ?? task.id), parts, task },
    input,
    settings,
  );
}

interface Sent {
  readonly messageId: string;
  readonly parts: Part[];
  readonly task: Task | undefined;
}

async function send(
  agent: AgentClient,
  { messageId, parts, task }: Sent,
  input: RunInput,
  settings: RunSettings,
): Promise<Run> {
  if (parts.length === 0) throw new A2AError('INVALID_PARAMS', 'The message has no content');
  const { threadId, messages, tools, context, state, forwardedProps } = input;
  const note = { answerId: messageId, messageId, given: lengthsOf(task) };
  const message: Message = {
    role: 'ROLE_USER',
    messageId,
    contextId: task?.contextId ?? threadId,
    ...(task && { taskId: task.id }),
    parts,
    metadata: {
      [AG_UI]: {
        ...note,
        tools: [...tools],
        context: [...context],
        ...(state !== undefined && { state }),
        ...(forwardedProps !== undefined && { forwardedProps }),
      },
    },
  };
  const { signal, followForMs } = settings;
  const stream = agent.stream(message, { signal, followForMs });
  const events = await begun(stream);
  return {
    events,
    position: () => stream.lastEventId,
    start: note,
    answerId: messageId,
    messages,
    isFollowed: false,
  };
}

async function follow(
  agent: AgentClient,
  task: Task,
  tasks: readonly Task[],
  input: RunInput,
  { signal, followForMs, lastEventId }: RunSettings,
): Promise<Run> {
  const note = latestNote(task, AG_UI);
  const stream = agent.follow(task.id, { signal, followForMs, lastEventId });
  const events = untilAtRest(await begun(stream));
  const { messages } = input;
  // The answer is given from its beginning: what the front end has of it is taken back first.
  const end = messages.findLastIndex(({ role }) => role === 'user') + 1;
  return {
    events,
    position: () => stream.lastEventId,
    start: lastEventId ? { messageId: note?.messageId } : (note ?? {}),
    answerId: note?.answerId ?? task.id,
    messages: messages.length > 0 ? messages.slice(0, end) : messagesOf(tasks),
    isFollowed: lastEventId === undefined,
  };
}

/** A run without anything to do shows a front end that was loaded again what was said. */
const nothing = (tasks: readonly Task[], { messages }: RunInput): Run => ({
  events: undefined,
  position: () => undefined,
  start: {},
  answerId: '',
  messages: messages.length > 0 ? messages : messagesOf(tasks),
  isFollowed: true,
});

/** The pieces of a run's answer, those of one event together. */
export const stepsOfRun = ({ events, start }: Run): ReturnType<typeof answerSteps> | undefined =>
  events && answerSteps(events, start);
