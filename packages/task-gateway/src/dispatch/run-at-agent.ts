import { createHash } from 'node:crypto';
import {
  type AgentClient,
  type AgentEvent,
  type AgentReply,
  answer,
  isInterrupted,
  type TaskStream,
} from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import type { Json, Message, Struct, Task } from '@batonjs/protocol';
import { IDEMPOTENCY } from '@batonjs/protocol/headers';
import type { Turn } from '@batonjs/server';
import { noteIn } from '../tasks/note.ts';
import { questionOf } from './question.ts';
import { reach } from './reach.ts';
import type { Report } from './report.ts';
import type { Target } from './targets.ts';

/** One turn of a task of the gateway, at its agent. */
export interface Run {
  readonly target: Target;
  readonly turn: Turn;
  readonly report: Report;
  /** How long an agent may be out of reach, in milliseconds. */
  readonly unreachableMs: number;
}

/** Whether the agent received the message of an attempt that died is not known, and must not be tried twice. */
export class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome';
}

/** What the sending of a message began: a task at the agent, or a message that is its answer. */
type Started = { readonly taskId: string } | { readonly message: Message };

/**
 * Sends the message of a turn to the agent, or attaches to the task that an earlier attempt of the turn started, and
 * follows it until it ends or waits for an answer.
 */
export async function runAtAgent(run: Run, data: Json, metadata: Struct): Promise<AgentReply> {
  const { turn, target } = run;
  const { agent } = target;
  let stream: TaskStream | undefined;
  const sent = await turn.step('send', async (): Promise<unknown> => {
    const agentTaskId = agentTaskOf(turn);
    const lost = agentTaskId ? undefined : await streamOfLostAttempt(run);
    const send = async () => {
      stream = agentTaskId
        ? await answerStream(run, agentTaskId)
        : (lost ?? firstStream(run, data, metadata));
      return firstEvent(stream, run);
    };
    // A stream repeats by itself what may be repeated. A message that is repeated here did not arrive.
    const first = await reach(send, { forMs: run.unreachableMs, signal: turn.signal, repeatable: false });
    return first.message ? { message: first.message } : { taskId: stream?.task?.id ?? agentTaskId! };
  });
  const started = sent as Started;
  if ('message' in started) return { message: started.message };
  if (stream) {
    const reply = await follow(stream, run, false);
    if (reply.task?.status.state !== 'TASK_STATE_AUTH_REQUIRED') return reply;
  }
  return follow(agent.follow(started.taskId, optionsOf(run)), run, true);
}

/** The message that creates the task at the agent. Its id is derived from the task's, so that it is one message however often it is sent. */
function firstStream(run: Run, data: Json, metadata: Struct): TaskStream {
  const { turn, target } = run;
  const part = acceptsJson(target.agent) ? { data } : { text: asText(data) };
  return target.agent.stream([part], {
    ...optionsOf(run),
    messageId: derivedId(turn, 'message'),
    contextId: derivedId(turn, 'context'),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  });
}

/**
 * The task that a lost attempt of this turn may have started at an agent without idempotency. Such an agent is not sent
 * the message again unless it is certain that it did not get it.
 */
async function streamOfLostAttempt(run: Run): Promise<TaskStream | undefined> {
  const { turn, target } = run;
  const { agent } = target;
  if (isIdempotent(agent)) return undefined;
  let isFirst = false;
  await turn.step('sending', () => {
    isFirst = true;
  });
  if (isFirst) return undefined;
  const task = await findTask(run);
  if (task) return agent.follow(task, optionsOf(run));
  if (target.isLocal) return undefined;
  throw new UnknownOutcome('Whether the agent received the task is not known, and it is not sent twice');
}

/** The task at the agent in the context that the gateway made for this task; undefined if it cannot be found. */
export async function findTask({ target, turn, unreachableMs }: Run): Promise<string | undefined> {
  const contextId = derivedId(turn, 'context');
  const options = { forMs: unreachableMs, signal: AbortSignal.timeout(unreachableMs), repeatable: true };
  try {
    const { tasks } = await reach(() => target.agent.listTasks({ contextId }), options);
    return tasks.find((task) => task.contextId === contextId)?.id;
  } catch {
    return undefined;
  }
}

/** The stream of the answer to a question of the agent; of the task only, if an earlier attempt sent the answer. */
async function answerStream(run: Run, agentTaskId: string): Promise<TaskStream> {
  const { turn, target, unreachableMs } = run;
  const { agent } = target;
  const reading = { forMs: unreachableMs, signal: turn.signal, repeatable: true };
  const task = await reach(() => agent.getTask({ id: agentTaskId }, { signal: turn.signal }), reading);
  const messageId = derivedId(turn, turn.message.messageId);
  const isKnown = task.history?.some((message) => message.messageId === messageId);
  if (isKnown || !isInterrupted(task)) return agent.follow(task, optionsOf(run));
  return agent.stream(answerTo(task, turn.message), { ...optionsOf(run), messageId });
}

/** The answer in the words that the agent asked for: the values of its form, or text. */
function answerTo(task: Task, { parts }: Message) {
  const [part] = parts;
  const { values } = Object(part && 'data' in part ? part.data : undefined) as { values: Json };
  return answer(task, questionOf(task).isPlain ? String(Object(values).text ?? '') : values);
}

/** Sends answers that arrive while the agent waits for an authorization. It goes on by itself otherwise. */
async function forwardInbox(run: Run, agentTaskId: string): Promise<void> {
  const { turn, target } = run;
  try {
    for await (const message of turn.inbox) {
      const task = await target.agent.getTask({ id: agentTaskId });
      await target.agent.send(answerTo(task, message), {
        messageId: derivedId(turn, message.messageId),
        returnImmediately: true,
      });
    }
  } catch {
    // The stream of the task reports what becomes of it.
  }
}

/** Reads a stream to its end, or to the next question if `untilQuestion`. */
async function follow(stream: TaskStream, run: Run, untilQuestion: boolean): Promise<AgentReply> {
  let message: Message | undefined;
  let isAuthorizing = false;
  const look = async ({ task }: TaskStream) => {
    if (!task) return false;
    await run.report.running(task);
    const { state } = task.status;
    if (state === 'TASK_STATE_AUTH_REQUIRED' && !isAuthorizing) {
      isAuthorizing = true;
      await run.report.asks(task);
      void forwardInbox(run, task.id);
    }
    return untilQuestion && state === 'TASK_STATE_INPUT_REQUIRED';
  };
  // The first event was read before.
  if (!(await look(stream))) {
    for await (const event of stream) {
      message = event.message;
      if (await look(stream)) break;
    }
  }
  return stream.task ? { task: stream.task } : { message: message! };
}

/** The first event of a stream. The stream goes on after it. */
async function firstEvent(stream: TaskStream, { turn }: Run): Promise<AgentEvent> {
  const { value, done } = await stream[Symbol.asyncIterator]().next();
  turn.signal.throwIfAborted();
  if (done) throw new TypeError('The agent ended its stream without an event');
  return value;
}

/** The task at the agent, if a turn before this one had it. */
export const agentTaskOf = ({ messages }: Turn): string | undefined =>
  messages.map(noteIn).findLast(({ agentTaskId }) => agentTaskId !== undefined)?.agentTaskId;

const optionsOf = ({ target: { agent }, turn, unreachableMs }: Run) => {
  const offered = new Set(agent.card.capabilities?.extensions?.map(({ uri }) => uri));
  const extensions = [TYPED_SKILLS, FORM_INPUT, TASK_PROGRESS, TASK_ERROR].filter((uri) => offered.has(uri));
  return { signal: turn.signal, followForMs: unreachableMs, extensions };
};

/** Whether the agent says in its card that a message may be sent twice. */
const isIdempotent = ({ card }: AgentClient): boolean =>
  card.capabilities?.extensions?.some(({ uri }) => uri === IDEMPOTENCY) ?? false;

const acceptsJson = ({ card }: AgentClient): boolean => {
  const modes = card.defaultInputModes ?? [];
  return modes.length === 0 || modes.some((mode) => /^(\*\/\*|application\/(json|\*))/.test(mode));
};

const asText = (data: Json): string => {
  const { text } = Object(data) as { text?: unknown };
  return typeof text === 'string' ? text : JSON.stringify(data);
};

/** An id that every attempt of every process derives alike, and that no other task has. */
const derivedId = ({ taskId }: Turn, name: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['task-gateway', taskId, name]))
    .digest('hex')
    .slice(0, 32);
