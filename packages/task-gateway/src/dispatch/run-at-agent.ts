import {
  type AgentClient,
  type AgentEvent,
  type AgentReply,
  answer,
  isInterrupted,
  isTerminal,
  type TaskStream,
} from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import { derivedId, isIdempotent, reach } from '@batonjs/nested-tasks/internals';
import type { Json, Message, Struct, Task } from '@batonjs/protocol';
import type { Turn } from '@batonjs/server';
import { noteIn } from '../tasks/gateway-task.ts';
import { questionOf, type Report } from './report.ts';
import type { Target } from './targets.ts';

/** Whether the agent received the message of an attempt that died is not known, and must not be tried twice. */
export class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome';
}

/** What the sending of a message began: a task at the agent, or a message that is its answer. */
type Started = { readonly taskId: string } | { readonly message: Message };

/**
 * Sends the task to the agent, or attaches to the task that an earlier attempt started there, and follows it until it
 * ends. Answers of the host go to the agent meanwhile.
 */
export async function runAtAgent(run: Run, data: Json, metadata: Struct): Promise<AgentReply> {
  const { turn } = run;
  const over = new AbortController();
  const signal = AbortSignal.any([turn.signal, over.signal]);
  let stream: TaskStream | undefined;
  const send = async (): Promise<unknown> => {
    const lost = await streamOfLostAttempt(run);
    const begin = async () => {
      stream = lost ?? firstStream(run, data, metadata, signal);
      return firstEvent(stream, run);
    };
    // A stream repeats by itself what may be repeated. A message that is repeated here did not arrive.
    const first = await reach(begin, { forMs: run.unreachableMs, signal: turn.signal, repeatable: false });
    return first.message ? { message: first.message } : { taskId: stream!.task!.id };
  };
  const sent = await stepWithoutWords(turn, 'send', send);
  const started = sent as Started;
  if ('message' in started) return { message: started.message };
  const failed = Promise.withResolvers<never>();
  forwardAnswers(run, started.taskId, signal).catch(failed.reject);
  try {
    return await Promise.race([followToEnd(stream, started.taskId, run, signal), failed.promise]);
  } finally {
    over.abort();
  }
}

/** A step whose failure is in the log without the words of the agent, which may repeat the credentials that it got. */
async function stepWithoutWords(turn: Turn, name: string, fn: () => Promise<unknown>): Promise<unknown> {
  let failure: unknown;
  try {
    return await turn.step(name, () =>
      fn().catch((error: unknown) => {
        failure = error;
        throw new Error('The agent did not take the task');
      }),
    );
  } catch (error) {
    throw failure ?? error;
  }
}

/** Follows a task at its agent until it ends. The stream of its first message may end before, at a question. */
async function followToEnd(
  first: TaskStream | undefined,
  taskId: string,
  run: Run,
  signal: AbortSignal,
): Promise<AgentReply> {
  const reply = first && (await follow(first, run));
  if (reply && (!reply.task || isTerminal(reply.task))) return reply;
  return follow(run.target.agent.follow(taskId, { ...optionsOf(run), signal }), run);
}

/** The message that creates the task at the agent. Its id is derived from the task's, so that it is one message however often it is sent. */
function firstStream(run: Run, data: Json, metadata: Struct, signal: AbortSignal): TaskStream {
  const { turn, target } = run;
  const part = acceptsJson(target.agent) ? { data } : { text: asText(data) };
  return target.agent.stream([part], {
    ...optionsOf(run),
    signal,
    messageId: derivedId(turn.taskId, 'message'),
    contextId: derivedId(turn.taskId, 'context'),
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
  const contextId = derivedId(turn.taskId, 'context');
  const options = { forMs: unreachableMs, signal: AbortSignal.timeout(unreachableMs), repeatable: true };
  try {
    const { tasks } = await reach(() => target.agent.listTasks({ contextId }), options);
    return tasks.find((task) => task.contextId === contextId)?.id;
  } catch {
    return undefined;
  }
}

/** Reads a stream to its end, and reports what the agent does. */
async function follow(stream: TaskStream, run: Run): Promise<AgentReply> {
  let message: Message | undefined;
  // The first event of a stream that was opened before was read then.
  if (stream.task) await run.report.running(stream.task);
  for await (const event of stream) {
    message = event.message;
    if (stream.task) await run.report.running(stream.task);
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

/** The task at the agent, if the log has it. */
export const agentTaskOf = ({ messages }: Turn): string | undefined =>
  messages.map(noteIn).findLast(({ agentTaskId }) => agentTaskId !== undefined)?.agentTaskId;

const acceptsJson = ({ card }: AgentClient): boolean => {
  const modes = card.defaultInputModes ?? [];
  return modes.length === 0 || modes.some((mode) => /^(\*\/\*|application\/(json|\*))/.test(mode));
};

const asText = (data: Json): string => {
  const { text } = Object(data) as { text?: unknown };
  return typeof text === 'string' ? text : JSON.stringify(data);
};

/**
 * Sends the answers of the host to the agent as they arrive, and first one that a process took but may not have sent.
 * Ends with the turn. Rejects if the agent still waits for an answer that cannot be sent to it.
 */
export async function forwardAnswers(run: Run, agentTaskId: string, signal: AbortSignal): Promise<void> {
  const { messages, inbox } = run.turn;
  const taken = messages.slice(1).findLast(({ role }) => role === 'ROLE_USER');
  if (taken) await forward(run, agentTaskId, taken, signal);
  for await (const message of inbox) {
    if (signal.aborted) return;
    await forward(run, agentTaskId, message, signal);
  }
}

async function forward(run: Run, agentTaskId: string, message: Message, signal: AbortSignal): Promise<void> {
  const { turn, target, unreachableMs: forMs } = run;
  const { agent } = target;
  const messageId = derivedId(turn.taskId, message.messageId);
  const read = () =>
    reach(() => agent.getTask({ id: agentTaskId }, { signal }), { forMs, signal, repeatable: true });
  const task = await read();
  const reply = isOpen(task, messageId) && answerTo(task, message);
  // The agent went on, or asks something else by now: the host sees the new form.
  if (!reply) return;
  try {
    const options = { ...optionsOf(run), messageId, returnImmediately: true, signal };
    const sending = { forMs, signal, repeatable: isIdempotent(agent) };
    await reach(() => agent.send(reply, options), sending);
  } catch (error) {
    signal.throwIfAborted();
    if (isOpen(await read(), messageId)) throw error;
  }
}

/** Whether the agent waits, and has not got this message yet. */
const isOpen = (task: Task, messageId: string): boolean =>
  isInterrupted(task) && !task.history?.some((message) => message.messageId === messageId);

/** The answer in the words that the agent asked for: the values of its form, or text. Undefined if it asks another form. */
function answerTo(task: Task, { parts }: Message) {
  const [part] = parts;
  const { formId, values } = Object(part && 'data' in part ? part.data : undefined) as Record<string, Json>;
  const { form, isPlain } = questionOf(task);
  if (form.formId !== formId) return undefined;
  return answer(task, isPlain ? String(Object(values).text ?? '') : (values ?? {}));
}

/** One turn of a task of the gateway, at its agent. */
export interface Run {
  readonly target: Target;
  readonly turn: Turn;
  readonly report: Report;
  /** How long an agent may be out of reach, in milliseconds. */
  readonly unreachableMs: number;
}

/** The options of every call of the agent: those extensions are active that it offers and the gateway reads. */
const optionsOf = ({ target: { agent }, turn, unreachableMs }: Run) => {
  const offered = new Set(agent.card.capabilities?.extensions?.map(({ uri }) => uri));
  const extensions = [TYPED_SKILLS, FORM_INPUT, TASK_PROGRESS, TASK_ERROR].filter((uri) => offered.has(uri));
  return { signal: turn.signal, followForMs: unreachableMs, extensions };
};
