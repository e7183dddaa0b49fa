import { type Command, decide, type State } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { type Answer, type Commit, isPending, StoreError } from '@batonjs/store';
import { newId } from '../../base/system/new-id.ts';
import { isoTime } from '../../base/timing/clock.ts';
import type { LiveTask } from '../../log/live-task.ts';
import { checkDecided, decideAll, reportTransitions, reserveSize } from '../../log/write/decision.ts';
import { appendOpenly, type Written, write } from '../../log/write/write.ts';
import { dueAt } from '../../turns/order/deadline-watch.ts';
import { orderFor } from '../../turns/order/schedule.ts';
import type { CallContext, Dependencies } from '../call/call-context.ts';
import { toWireError } from '../call/wire-error.ts';
import { hasTooMany, tooManyTasks } from './check-unfinished.ts';
import { derivedTaskId, mustBeTheSame, onceOf, type Receive } from './receive.ts';

/** A client's message that is in the log. The owner of this object releases `live`. */
export interface Accepted {
  readonly live: LiveTask;
  /** Position of the message. */
  readonly position: number;
  /** The message was in the log already. */
  readonly repeated?: boolean;
  /** The state right after the commit that brought the message; a later one if the message was known before. */
  readonly state: State;
}

/** The id of the task that a message starts. */
export const newTaskId = (
  { messageId }: Message,
  context: CallContext,
  dependencies: Dependencies,
): string =>
  isRepeatable(context, dependencies) ? derivedTaskId(context.scope, messageId) : newId(dependencies.clock);

/** Records a message in a new log, or finds the one that the same message began. Takes the turn if it runs here. */
export async function beginLog(
  taskId: string,
  receive: Receive,
  context: CallContext,
  dependencies: Dependencies,
  enter: (live: LiveTask) => void,
): Promise<Accepted> {
  const { clock, tasks, runner } = dependencies;
  const { timeouts, unfinishedTasks } = dependencies.options;
  const { scope, requestId } = context;
  const { messageId } = receive.message;
  const unlessDeleted = isRepeatable(context, dependencies);
  const reserved = runner.reserve(startsHere(receive, dependencies) ? 1 : 0);
  const here = reserved.turns > 0;
  const commands = firstCommands(receive, taskId, here, dependencies);
  const live = tasks.begin(scope, taskId);
  try {
    enter(live);
    const isFull =
      !live.known &&
      unfinishedTasks !== undefined &&
      (await hasTooMany(scope, unfinishedTasks, dependencies));
    if (live.known || isFull) {
      await live.refresh();
      // The message may have started its task before, in another process perhaps.
      if (!live.known) throw tooManyTasks();
      return await join(live, receive, dependencies);
    }
    const subscribed = live.subscribe();
    if (isPending(subscribed)) await subscribed;
    const since = clock.monotonic();
    const writing = write(live, (known) => (known ? overtaken : decideFirst(commands, dependencies)), {
      turn: firstTurn(receive, here, dependencies),
      once: onceOf(messageId),
      unlessDeleted,
      dueAt: (state) => dueAt(state, timeouts),
    });
    const written = isPending(writing) ? await writing : writing;
    if (written.facts.length === 0) {
      await live.refresh();
      return await join(live, receive, dependencies);
    }
    const { state } = live;
    reportTransitions(undefined, live, written.facts, dependencies.onEvent);
    if (written.lease) runner.start(tasks.retain(live), written.lease, { since, started: true, requestId });
    return { live, position: 1, state };
  } catch (error) {
    tasks.release(live);
    if (StoreError.is(error, 'QUEUE_FULL')) throw queueFull();
    if (StoreError.is(error, 'LOG_DELETED')) throw deleted(taskId);
    // The outcome may be unknown: the client can look for the task under this id.
    throw toWireError(error, dependencies.logger, { requestId, taskId });
  } finally {
    reserved.release();
  }
}

/** Whether the first turn needs no queue. */
const startsHere = ({ notBefore }: Receive, { options: { run, schedule } }: Dependencies): boolean =>
  run === 'here' && notBefore === undefined && !schedule;

/** Whether a message that starts a task may be repeated. */
const isRepeatable = ({ caller }: CallContext, { options: { messages } }: Dependencies): boolean =>
  messages.idempotency === 'authenticated' ? caller !== undefined : messages.idempotency;

/** What the first commit of a log does. `here`: its turn starts in this process. */
function firstCommands(
  receive: Receive,
  taskId: string,
  here: boolean,
  { clock, runner, options: { alwaysTask, version } }: Dependencies,
): Command[] {
  const contextId = receive.message.contextId || newId(clock);
  const commands: Command[] = [{ ...receive, message: { ...receive.message, contextId } }];
  // A message that is postponed has a task from the start: its client can look at it, and cancel it.
  if (alwaysTask || receive.notBefore !== undefined) commands.push({ type: 'create', taskId });
  if (here) commands.push({ type: 'start-turn', alone: runner.running === 0 || undefined, version });
  return commands;
}

/** The facts of the first commit. Throws if they pass a limit. */
function decideFirst(commands: readonly Command[], { clock, options: { limits } }: Dependencies) {
  const decided = decideAll(undefined, commands, isoTime(clock.now()));
  checkDecided(decided, limits);
  return decided;
}

/** What the first commit of a log says of its turn: it takes the lease, or waits for a process, or for its time. */
function firstTurn(
  receive: Receive,
  here: boolean,
  { clock, options: { queue, timeouts, schedule, limits, pinnedTo } }: Dependencies,
): Commit['turn'] {
  if (here) return { queue, version: pinnedTo, acquire: { holder: newId(clock), ttlMs: timeouts.leaseMs } };
  const order = orderFor(schedule, receive);
  if (receive.notBefore !== undefined) return { queue, ...order };
  return { queue, want: true, waitingAtMost: limits.queuedTurns, ...order };
}

/** Another commit began this log. */
const overtaken = { facts: [], state: undefined };

/** The log that the same message began before. Throws `MESSAGE_ID_CONFLICT` if it was another message. */
async function join(live: LiveTask, receive: Receive, dependencies: Dependencies): Promise<Accepted> {
  const [first] = await dependencies.store.readFacts(live.scope, live.taskId, 0, 1);
  mustBeTheSame(first, receive, live.taskId);
  return { live, position: 1, repeated: true, state: live.state };
}

/** Clients do not send the message again for it. */
const deleted = (taskId: string): A2AError =>
  new A2AError('TASK_NOT_FOUND', 'The message was received before, and its task was deleted', {
    metadata: { taskId },
  });

const queueFull = (): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', 'Too many tasks wait for their turn', { retryAfter: 1 });

/** Whether the log became a task or was answered; a task is made of it if neither. */
export async function ensureTask(live: LiveTask, dependencies: Dependencies): Promise<void> {
  const { clock } = dependencies;
  const { timeouts } = dependencies.options;
  try {
    const written = await write(
      live,
      (state) =>
        state && !state.closed && !state.task
          ? decideAll(state, [{ type: 'create', taskId: live.taskId }], isoTime(clock.now()))
          : { facts: [], state },
      { dueAt: (state) => dueAt(state, timeouts) },
    );
    reportTransitions(undefined, live, written.facts, dependencies.onEvent);
  } catch (error) {
    // The agent answered, or the task ended, at that very moment.
    if (!StoreError.is(error, 'LOG_CLOSED')) throw error;
    await live.refresh();
    if (!live.state.closed) throw error;
  }
}

/** Adds a message to the log of its task, which may be longer by now than when the message was checked. */
export async function continueTask(
  live: LiveTask,
  receive: Receive,
  dependencies: Dependencies,
): Promise<Accepted> {
  const { clock, claimer } = dependencies;
  const { queue, run, limits, schedule } = dependencies.options;
  const { messageId } = receive.message;
  const startsHere = run === 'here' && !schedule;
  for (;;) {
    const facts = decide(live.state, receive, isoTime(clock.now()));
    const giveBack = reserveSize(live, facts, limits);
    const isConditional = receive.ifGeneration !== undefined && facts.length > 0;
    try {
      await live.subscribe();
      // Noted before the write: the store notifies the claimer of it before this function goes on.
      if (startsHere) live.arriving = messageId;
      const turn = { queue, want: true, ...orderFor(schedule, receive) };
      const written = isConditional
        ? await writeOnCondition(live, receive, turn, dependencies)
        : await appendOpenly(live, facts, onceOf(messageId), turn);
      if (isConditional && written.facts.length === 0) {
        // Another process appended the same message meanwhile: it is found by its name.
        await live.refresh();
        continue;
      }
      // As of the message: the turn that begins now may already have gone on when this function does.
      const { state } = live;
      if (written.repeated) {
        const [earlier] = await dependencies.store.readFacts(live.scope, live.taskId, written.first - 1, 1);
        mustBeTheSame(earlier, receive, live.taskId);
      } else if (startsHere && !live.state.openTurn) {
        await claimer.claimNow(live.scope, live.taskId);
      }
      return { live, position: written.first, repeated: written.repeated, state };
    } catch (error) {
      if (!StoreError.is(error, 'LOG_CLOSED')) throw error;
      await live.refresh();
      // The task ended meanwhile: `decide` throws the protocol's error for that.
      if (!live.state.closed) throw error;
    } finally {
      if (live.arriving === messageId) live.arriving = undefined;
      giveBack();
    }
  }
}

/**
 * Appends a message only if the log is as it was when the condition was checked: an open append may follow facts that
 * came after the check.
 */
const writeOnCondition = (
  live: LiveTask,
  receive: Receive,
  turn: Commit['turn'],
  { clock, options: { timeouts } }: Dependencies,
): Answer<Written> =>
  write(live, (state) => decideAll(state, [receive], isoTime(clock.now())), {
    turn,
    once: onceOf(receive.message.messageId),
    dueAt: (state) => dueAt(state, timeouts),
  });
