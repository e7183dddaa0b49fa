import {
  type AgentEvent,
  type AgentReply,
  isInterrupted,
  isTerminal,
  type MessageInput,
  type TaskStream,
} from '@batonjs/client';
import { FORM_INPUT, progressOf, TASK_ERROR, TASK_PROGRESS, TASK_TREE } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import { type TaskUpdate, working } from '@batonjs/server';
import { offers, type Target } from '../agents/agents.ts';
import type { CallOptions, CallScope } from '../call.ts';
import { hasEnded } from './child-record.ts';
import { firstMessage, passedOn } from './messages.ts';
import { KnownChild, questionsOf } from './questions.ts';
import { relayProgress } from './relay.ts';
import { follow, type SendSettings, type StartedStream, startChild } from './start-child.ts';

/** A longer reply, as JSON, is read from the agent again instead of being kept in the log. In characters. */
const longestReply = 262_144;

/** One call of a turn: follows a child from wherever it is to its end. */
export function childCall(scope: CallScope, target: Target, options: CallOptions) {
  const { turn, signal, limits } = scope;
  const relayedOn = [TASK_PROGRESS].filter((uri) => turn.extensions.includes(uri));
  // Forms are for people with links too, whatever the client of this task knows.
  const wanted = [TASK_TREE, TASK_ERROR, FORM_INPUT, ...relayedOn, ...(options.extensions ?? [])];
  const settings: SendSettings = {
    signal,
    extensions: wanted.filter((uri) => offers(target.client, uri)),
    unreachableMs: limits.unreachableMs,
    resend: options.resend ?? false,
  };
  const child = new KnownChild(scope, options.name, target);
  const questions = questionsOf(scope, child, options.onQuestion, settings);

  async function start(input: MessageInput): Promise<StartedStream> {
    const { name, metadata } = options;
    const message = child.record.message ?? firstMessage(scope.turn, input, options);
    if (!child.isFromLog) {
      child.change({ message, ...(metadata && { metadata }) });
      // A turn that lost its task stops here, before it sends anything.
      await child.save();
    }
    return startChild(name, child.target, { ...child.record, message }, settings, child.isFromLog);
  }

  /** The child that an earlier attempt or turn started, from where it was. */
  async function attach(): Promise<StartedStream> {
    const { state } = child;
    if (state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED') {
      // Nothing may follow the question in its stream: the task says whether the child still waits.
      const task = await child.read();
      if (task.status.state === 'TASK_STATE_INPUT_REQUIRED') return asked(task);
      if (isInterrupted(task)) await questions.authorize(task);
    }
    return followed();
  }

  function followed(): Promise<StartedStream> {
    const { target, taskId, record } = child;
    return follow(target, taskId!, settings, record.position);
  }

  /** Reads a stream to the end of the child, or to where another stream must be read. */
  async function read({
    stream,
    first,
    isReply,
  }: StartedStream): Promise<StartedStream | { readonly reply: AgentReply }> {
    const events = stream[Symbol.asyncIterator]();
    for (let event: AgentEvent | undefined = first; event; event = (await events.next()).value ?? undefined) {
      if (event.message) return { reply: await end({ message: event.message }) };
      await look(event, stream);
      const { task } = stream;
      // The stream of a message may begin with the question that the message answers.
      if (!isReply && task && questions.isNew(task)) {
        await events.return();
        return asked(task);
      }
    }
    const { task } = stream;
    if (task && isTerminal(task)) return { reply: await end(await stream.result()) };
    if (task?.status.state === 'TASK_STATE_INPUT_REQUIRED') return asked(task);
    return followed();
  }

  const asked = async (task: Task): Promise<StartedStream> => (await questions.asked(task)) ?? followed();

  /** Records what an event says, and passes it on. */
  async function look(event: AgentEvent, stream: TaskStream): Promise<void> {
    const { task } = stream;
    if (!task) return;
    const { state, message } = task.status;
    const isNews = child.taskId !== task.id || child.state !== state;
    child.taskId = task.id;
    child.state = state;
    const progress = progressOf(task) ?? child.record.progress;
    const position = stream.lastEventId;
    const goesOn = !isInterrupted(task) && questions.endAuthorizing();
    const updates = relayed(event, task);
    child.change({ message: undefined, metadata: undefined, position, progress });
    if (message && !isInterrupted(task)) child.change({ said: message.messageId });
    if (goesOn && updates.length === 0 && !isTerminal(task)) updates.push(working());
    // A question is recorded when it is passed on: a crash before reads it again.
    const last = isInterrupted(task) ? undefined : updates.pop();
    for (const update of updates) await scope.emit(update);
    if (state === 'TASK_STATE_AUTH_REQUIRED') await questions.authorize(task);
    else if (last || (isNews && !isInterrupted(task))) await child.save(last);
  }

  /** The updates that an event becomes. A status says it in a message of this task. */
  function relayed(event: AgentEvent, task: Task): TaskUpdate[] {
    const { relay = relayProgress } = options;
    const { said } = child.record;
    const given = relay(withoutSaid(event, said), task) ?? [];
    const updates: readonly TaskUpdate[] = Array.isArray(given) ? given : [given];
    return updates.flatMap((update) => {
      if (!('status' in update)) return update;
      // The call itself passes on that the child waits. Progress would hide that another child waits.
      if (isInterrupted(task) || scope.authorizing.size > 0) return [];
      const { message } = update.status;
      if (!message) return update;
      const renamed = passedOn(task, child.idOf('said', message.messageId), message);
      return { ...update, status: { ...update.status, message: renamed } };
    });
  }

  async function end(reply: AgentReply): Promise<AgentReply> {
    const kept: AgentReply = reply.task ? { task: withoutHistory(reply.task) } : reply;
    if (reply.task) await child.readUsage();
    const { at, startedAt, progress } = child.record;
    const isLong = JSON.stringify(kept).length > longestReply;
    child.state = reply.task?.status.state ?? 'TASK_STATE_COMPLETED';
    child.record = { at, startedAt, ...(progress && { progress }), ...(!isLong && { reply: kept }) };
    await child.save();
    return kept;
  }

  return {
    /** Resolves to how the child ended. */
    async run(input: MessageInput): Promise<AgentReply> {
      // Its reply was too long to be kept, or a process died before it was.
      if (child.state && hasEnded(child)) return end({ task: await child.read() });
      let started = await (child.taskId === undefined ? start(input) : attach());
      for (;;) {
        const next = await read(started);
        if ('reply' in next) return next.reply;
        started = next;
      }
    },
  };
}

const withoutHistory = ({ history: _, ...task }: Task): Task => structuredClone(task);

/** The event without a message that was passed on before. */
function withoutSaid(event: AgentEvent, said: string | undefined): AgentEvent {
  const { task, statusUpdate } = event;
  const status = (task ?? statusUpdate)?.status;
  if (said === undefined || status?.message?.messageId !== said) return event;
  const { message: _, ...bare } = status;
  return task ? { task: { ...task, status: bare } } : { statusUpdate: { ...statusUpdate!, status: bare } };
}
