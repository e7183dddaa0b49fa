import { type Command, decide } from '@batonjs/lifecycle';
import type { AgentCard, Message, SendMessageRequest } from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { type Commit, type StoredFact, StoreError } from '@batonjs/store';
import { newId } from '../../base/system/new-id.ts';
import { isoTime } from '../../base/timing/clock.ts';
import { generationParam } from '../../log/generation/generation-param.ts';
import type { LiveTask } from '../../log/live-task.ts';
import { appendOpenly } from '../../log/write/append-openly.ts';
import { decideAll } from '../../log/write/decision.ts';
import { checkDecided, takeRoom } from '../../log/write/task-room.ts';
import { reportTransitions } from '../../log/write/transition.ts';
import { type Written, write } from '../../log/write/write.ts';
import { orderFor } from '../../turns/order/schedule.ts';
import { dueAt } from '../../turns/order/task-deadlines.ts';
import type { CallContext } from '../call/call-context.ts';
import type { Dependencies } from '../call/dependencies.ts';
import { toWireError } from '../call/wire-error.ts';
import { checkInputModes, checkOutputModes } from '../card/media-modes.ts';
import type { Accepted } from './accepted.ts';
import { checkSkill, claimsOf, skillIn } from './check-skill.ts';
import { hasTooMany, tooManyTasks } from './check-unfinished.ts';
import { derivedTaskId } from './derived-task-id.ts';
import { checkInlineConfig } from './inline-config.ts';
import { isSameMessage } from './same-message.ts';
import { type Wish, wishOf } from './scheduling.ts';

/**
 * Records a message: in a new log, or in that of the task it names. The agent is called only after that. `enter` is
 * called with the task before anything is written, and may refuse.
 */
export async function accept(
  request: SendMessageRequest,
  context: CallContext,
  dependencies: Dependencies,
  enter: (live: LiveTask) => void = () => {},
): Promise<Accepted> {
  const { message, configuration } = request;
  if (message.role !== 'ROLE_USER') {
    throw invalidParams([{ field: 'message.role', description: 'must be ROLE_USER' }]);
  }
  const { card, options } = dependencies;
  const skillId = options.skillOf?.(request, context.extensions);
  checkSkill(skillId, context.caller, card);
  if (configuration?.taskPushNotificationConfig) {
    if (!dependencies.card.capabilities.pushNotifications)
      throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    await checkInlineConfig(request, context, dependencies);
  }
  const existing = message.taskId ? await dependencies.tasks.open(context.scope, message.taskId) : undefined;
  try {
    if (message.taskId && !existing?.state.task)
      throw new A2AError('TASK_NOT_FOUND', undefined, taskOf(message));
    const { clock } = dependencies;
    const { notBeforeMs } = dependencies.options.limits;
    const wish = wishOf(message, context, clock.now(), notBeforeMs);
    const receive = toReceive(request, context, card, wish, skillIn(card, skillId)?.id);
    // A message that names no skill, or another one, may continue what an earlier message began.
    for (const begun of existing?.state.skills ?? []) checkSkill(begun, context.caller, card);
    // Every reason to refuse comes before the first write.
    if (existing) decide(existing.state, receive, isoTime(clock.now()));
    checkInputModes(dependencies.card, message);
    checkOutputModes(dependencies.card, configuration?.acceptedOutputModes);
    if (existing) enter(existing);
    return existing
      ? await continueTask(existing, receive, dependencies)
      : await beginLog(receive, context, dependencies, enter);
  } catch (error) {
    if (existing) dependencies.tasks.release(existing);
    throw error;
  }
}

type Receive = Command & { type: 'receive' };

function toReceive(
  { message, configuration, metadata }: SendMessageRequest,
  context: CallContext,
  card: AgentCard,
  wish: Wish,
  skill: string | undefined,
): Receive {
  const { taskPushNotificationConfig: _, ifGenerationMatch, ...kept } = configuration ?? {};
  const { extensions } = context;
  const condition = generationParam(ifGenerationMatch, 'configuration.ifGenerationMatch', extensions);
  const caller = claimsOf(context.caller, card);
  return {
    type: 'receive',
    message,
    ...(configuration && { configuration: kept }),
    ...(metadata && { metadata }),
    ...(context.extensions.length > 0 && { extensions: context.extensions }),
    ...(caller && { caller: { ...caller } }),
    ...(context.traceparent && { traceparent: context.traceparent }),
    ...wish,
    ...(skill !== undefined && { skill }),
    // A send that creates a task has no generation to compare.
    ...(condition !== undefined && message.taskId && { ifGeneration: condition }),
  };
}

async function beginLog(
  receive: Receive,
  context: CallContext,
  dependencies: Dependencies,
  enter: (live: LiveTask) => void,
): Promise<Accepted> {
  const { clock, tasks, runner } = dependencies;
  const { clocks, queue, leaseMs, alwaysTask, idempotency, limits, schedule, unfinishedTasks } =
    dependencies.options;
  const { scope } = context;
  const { messageId } = receive.message;
  const derived = idempotency === 'authenticated' ? context.caller !== undefined : idempotency;
  const taskId = derived ? derivedTaskId(scope, messageId) : newId(clock);
  const isPutOff = receive.notBefore !== undefined;
  const startsHere = dependencies.options.run === 'here' && !isPutOff && !schedule;
  const reserved = runner.reserve(startsHere ? 1 : 0);
  const here = reserved.turns > 0;
  const contextId = receive.message.contextId || newId(clock);
  const owned: Receive = { ...receive, message: { ...receive.message, contextId } };
  const commands: Command[] = [owned];
  // A message that is put off has a task from the start: its client can look at it, and cancel it.
  if (alwaysTask || isPutOff) commands.push({ type: 'create', taskId });
  if (here) commands.push({ type: 'start-turn', alone: runner.running === 0 || undefined });
  const live = tasks.begin(scope, taskId);
  try {
    enter(live);
    if (!here && !isPutOff) await checkBacklog(dependencies);
    const isFull = !live.known && unfinishedTasks !== undefined && (await hasTooMany(scope, dependencies));
    if (live.known || isFull) {
      await live.refresh();
      // The message may have started its task before, in another process perhaps.
      if (!live.known) throw tooManyTasks();
      return await join(live, receive, dependencies);
    }
    await live.subscribe();
    const since = clock.monotonic();
    const acquire = { holder: newId(clock), ttlMs: leaseMs };
    const written = await write(
      live,
      (known) => {
        if (known) return overtaken;
        const decided = decideAll(undefined, commands, isoTime(clock.now()));
        checkDecided(decided, limits);
        return decided;
      },
      {
        turn: here
          ? { queue, acquire }
          : isPutOff
            ? { queue, ...orderFor(schedule, receive) }
            : { queue, want: true, waitingAtMost: limits.queuedTurns, ...orderFor(schedule, receive) },
        once: onceOf(messageId),
        dueAt: (state) => dueAt(state, clocks),
      },
    );
    if (written.facts.length === 0) {
      await live.refresh();
      return await join(live, receive, dependencies);
    }
    const { state } = live;
    reportTransitions(undefined, taskId, written.facts, dependencies.onTransition);
    if (written.lease) {
      const { requestId } = context;
      runner.start(tasks.retain(live), written.lease, { since, started: true, requestId });
    }
    return { live, position: 1, state };
  } catch (error) {
    tasks.release(live);
    if (StoreError.is(error, 'QUEUE_FULL')) throw queueFull();
    // The outcome may be unknown: the client can look for the task under this id.
    throw toWireError(error, dependencies.log, { requestId: context.requestId, taskId });
  } finally {
    reserved.release();
  }
}

/** Another commit began this log. */
const overtaken = { facts: [], state: undefined };

/** The log that the same message began before. Throws `MESSAGE_ID_CONFLICT` if it was another message. */
async function join(live: LiveTask, receive: Receive, dependencies: Dependencies): Promise<Accepted> {
  const [first] = await dependencies.store.readFacts(live.scope, live.taskId, 0, 1);
  mustBeTheSame(first, receive, live.taskId);
  return { live, position: 1, repeated: true, state: live.state };
}

/** Adds a message to the log of its task, which may be longer by now than when the message was checked. */
async function continueTask(live: LiveTask, receive: Receive, dependencies: Dependencies): Promise<Accepted> {
  const { clock, claimer } = dependencies;
  const { queue, run, limits, schedule } = dependencies.options;
  const { messageId } = receive.message;
  const startsHere = run === 'here' && !schedule;
  for (;;) {
    const facts = decide(live.state, receive, isoTime(clock.now()));
    const giveBack = takeRoom(live, facts, limits);
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
      if (written.repeated) {
        const [earlier] = await dependencies.store.readFacts(live.scope, live.taskId, written.first - 1, 1);
        mustBeTheSame(earlier, receive, live.taskId);
      } else if (startsHere && !live.state.openTurn) {
        await claimer.claimNow(live.scope, live.taskId);
      }
      return { live, position: written.first, repeated: written.repeated, state: live.state };
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
  { clock, options: { clocks } }: Dependencies,
): Promise<Written> =>
  write(live, (state) => decideAll(state, [receive], isoTime(clock.now())), {
    turn,
    once: onceOf(receive.message.messageId),
    dueAt: (state) => dueAt(state, clocks),
  });

function mustBeTheSame(stored: StoredFact | undefined, receive: Receive, taskId: string): void {
  const fact = stored?.fact;
  if (fact?.type === 'message-received' && isSameMessage(fact, receive)) return;
  throw new A2AError('MESSAGE_ID_CONFLICT', undefined, { metadata: { existingTaskId: taskId } });
}

/** Throws `RESOURCE_EXHAUSTED` when too many tasks wait already: before the message is processed. */
async function checkBacklog({ store, options: { queue, limits } }: Dependencies): Promise<void> {
  const { queuedTurns } = limits;
  if ((await store.waiting(queue, queuedTurns)) >= queuedTurns) throw queueFull();
}

const queueFull = (): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', 'Too many tasks wait for their turn', { retryAfter: 1 });

const onceOf = (messageId: string): string => `message:${messageId}`;

const taskOf = ({ taskId }: Message) => ({ metadata: { taskId: taskId ?? '' } });

/** Whether the log became a task or was answered; a task is made of it if neither. */
export async function ensureTask(live: LiveTask, dependencies: Dependencies): Promise<void> {
  const { clock } = dependencies;
  const { clocks } = dependencies.options;
  try {
    const written = await write(
      live,
      (state) =>
        state && !state.closed && !state.task
          ? decideAll(state, [{ type: 'create', taskId: live.taskId }], isoTime(clock.now()))
          : { facts: [], state },
      { dueAt: (state) => dueAt(state, clocks) },
    );
    reportTransitions(undefined, live.taskId, written.facts, dependencies.onTransition);
  } catch (error) {
    // The agent answered, or the task ended, at that very moment.
    if (!StoreError.is(error, 'LOG_CLOSED')) throw error;
    await live.refresh();
    if (!live.state.closed) throw error;
  }
}
