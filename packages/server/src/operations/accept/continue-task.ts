import { decide } from '@batonjs/lifecycle';
import { type Answer, type Commit, StoreError } from '@batonjs/store';
import { isoTime } from '../../base/timing/clock.ts';
import type { LiveTask } from '../../log/live-task.ts';
import { appendOpenly } from '../../log/write/append-openly.ts';
import { decideAll } from '../../log/write/decision.ts';
import { reserveSize } from '../../log/write/task-limits.ts';
import { type Written, write } from '../../log/write/write.ts';
import { orderFor } from '../../turns/order/schedule.ts';
import { dueAt } from '../../turns/order/task-deadlines.ts';
import type { Dependencies } from '../call/dependencies.ts';
import type { Accepted } from './accepted.ts';
import { mustBeTheSame, onceOf, type Receive } from './receive.ts';

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
