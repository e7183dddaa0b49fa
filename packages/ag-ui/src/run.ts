import type { AgentClient, AgentEvent } from '@batonjs/client';
import {
  type AnswerStart,
  answerSteps,
  begun,
  isSameContent,
  latestNote,
  latestVersion,
  lengthsOf,
  openTask,
  placeIn,
  tasksOf,
  untilAtRest,
} from '@batonjs/client/answers';
import type { Message, Part, Task } from '@batonjs/protocol';
import { A2AError, CodedError } from '@batonjs/protocol/errors';
import { isSameJson } from '@batonjs/protocol/json';
import { answerTo, frontEndCalls, interruptsOf, isPlainQuestion } from './interrupts.ts';
import { AG_UI, messagesOf, newMessages, partsOf, toolResults } from './messages.ts';
import type { AgUiMessage, Resume, RunInput } from './run-input.ts';

/** How calls of the agent are made. */
export interface RunSettings {
  readonly signal: AbortSignal;
  readonly followForMs?: number;
  /** The position after which a run that was cut off goes on. */
  readonly lastEventId?: string | undefined;
}

/** A run that is asked for. */
interface Asked {
  readonly agent: AgentClient;
  readonly input: RunInput;
  readonly settings: RunSettings;
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

/**
 * Sends the new messages of a thread, or follows the task that is open. A message that was edited is another one, which
 * takes the place of the first. Rejects with `RunRefused` for wrong answers.
 */
export async function openRun(
  agent: AgentClient,
  input: RunInput,
  settings: RunSettings,
  count = input.messages.length === 0 ? 100 : 20,
): Promise<Run> {
  const asked: Asked = { agent, input, settings };
  const { threadId, messages, resume } = input;
  const { signal } = settings;
  const tasks = await tasksOf(agent, threadId, { signal, count });
  const latest = newMessages(messages);
  const last = resume ? undefined : latest.at(-1);
  const isSent = (at: number) => (stored: Message) => isSameAs(stored, latest.slice(0, at + 1));
  const place =
    last && (await placeIn(agent, tasks, { id: last.id, isSame: isSent(latest.length - 1) }, { signal }));
  const open = place ? place.open : openTask(tasks);
  const waiting = open?.status.state.endsWith('_REQUIRED') ? open : undefined;
  const sentTo = resume ? resumedBy(tasks, resume) : place?.sentTo;
  if (sentTo) return follow(asked, sentTo, tasks);
  if (resume && !waiting) throw new RunRefused('NO_INTERRUPT', 'No interrupt of this thread is open');
  const hasResults = toolResults(messages).size > 0;
  if (waiting && (resume || (hasResults && frontEndCalls(waiting).length > 0)))
    return answerQuestion(asked, waiting);
  if (waiting && last && !isPlainQuestion(waiting) && interruptsOf(waiting).length > 0)
    throw new RunRefused('INTERRUPT_OPEN', 'This thread waits for answers to its interrupts: send `resume`');
  if (!place) return open ? follow(asked, open, tasks) : nothing(tasks, input);
  // An answer that failed leaves no message behind it.
  const known = latest.findLastIndex(({ id }, at) => {
    const version = latestVersion(tasks, id);
    return version && isSent(at)(version.message);
  });
  const parts = latest.slice(known + 1).flatMap(partsOf);
  const { messageId, replaces } = place;
  try {
    return await send(asked, { messageId, replaces, parts, task: waiting });
  } catch (error) {
    // The agent has the id in a task further back, or got the message at this moment.
    if (!A2AError.is(error, 'MESSAGE_ID_CONFLICT') || count === 100) throw error;
    return openRun(agent, input, settings, 100);
  }
}

/** Whether the last of these messages was sent. Those without an answer between them are sent as one, under its id. */
function isSameAs(stored: Message, latest: readonly AgUiMessage[]): boolean {
  const own = latest.slice(-1).flatMap(partsOf);
  // A front end has no words for data, and nothing to send without content.
  if (own.length === 0) return true;
  const shown = stored.parts.filter((part) => !('data' in part));
  const parts = latest.flatMap(partsOf);
  const same = parts.slice(Math.max(0, parts.length - shown.length));
  return shown.length >= own.length && isSameContent({ ...stored, parts: shown }, same);
}

/** An error of the front end that ends its run. */
export class RunRefused extends CodedError {
  static override readonly title = 'RunRefused';
}

/** The same answer to the same interrupts is sent once. */
const resumeId = (interruptId: string): string => `resume-${interruptId.split('/')[0]}`;

/** The task that got this answer already. */
function resumedBy(tasks: readonly Task[], resume: readonly Resume[]): Task | undefined {
  const { task, message } = latestVersion(tasks, resumeId(resume[0]!.interruptId)) ?? {};
  return isSameJson(Object(message?.metadata?.[AG_UI]).resume, resume) ? task : undefined;
}

async function answerQuestion(asked: Asked, task: Task): Promise<Run> {
  const { resume = [], messages } = asked.input;
  const results = toolResults(messages);
  let parts: Part[] | undefined;
  try {
    parts = answerTo(task, resume, results);
  } catch (error) {
    if (A2AError.is(error)) throw new RunRefused('INVALID_RESUME', error.message);
    throw error;
  }
  if (!parts) {
    await asked.agent.cancelTask({ id: task.id }, { signal: asked.settings.signal });
    return follow(asked, task, [task]);
  }
  return send(asked, { messageId: resumeId(task.status.message?.messageId ?? task.id), parts, task });
}

interface Sent {
  readonly messageId: string;
  readonly replaces?: string | undefined;
  readonly parts: Part[];
  readonly task: Task | undefined;
}

async function send(
  { agent, input, settings }: Asked,
  { messageId, replaces, parts, task }: Sent,
): Promise<Run> {
  if (parts.length === 0) throw new A2AError('INVALID_PARAMS', 'The message has no content');
  const { threadId, messages, tools, context, state, forwardedProps, resume } = input;
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
        ...(replaces !== undefined && { replaces }),
        ...(resume && { resume: resume.map((each) => ({ ...each })) }),
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

async function follow({ agent, input, settings }: Asked, task: Task, tasks: readonly Task[]): Promise<Run> {
  const { signal, followForMs, lastEventId } = settings;
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
