import { type Fact, isTerminal } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import { A2AError } from '@batonjs/protocol/errors';
import type { Limits } from '../../limits/limits.ts';
import type { LiveTask } from '../live-task.ts';
import type { Decision } from './decision.ts';

type TaskLimits = Pick<Limits, 'factsPerTask' | 'bytesPerTask'>;

/** Bytes that the update which ends a task may have however full the task is. */
const lastWords = 64 * 1024;

/** Throws `RESOURCE_EXHAUSTED` if this decision makes the log of a task longer or larger than it may be. */
export function checkDecided({ facts, state }: Decision, { factsPerTask, bytesPerTask }: TaskLimits): void {
  if (!state || (state.version <= factsPerTask && state.weight <= bytesPerTask)) return;
  if (!facts.every(isAllowedBeyond) && facts[0]?.type !== 'turn-started') throw tooLarge();
}

/** What a full log still takes: all it needs so that the task can be canceled, run and ended. */
function isAllowedBeyond(fact: Fact): boolean {
  switch (fact.type) {
    case 'task-created':
    case 'turn-started':
    case 'turn-ended':
    case 'message-taken':
    case 'cancel-requested':
      return true;
    case 'status-changed':
      return isTerminal(fact.status.state) && weigh(fact) <= lastWords;
    case 'answered':
      return weigh(fact) <= lastWords;
    default:
      return false;
  }
}

interface Room {
  readonly facts: number;
  readonly bytes: number;
}

/** What is on its way into the log of a task, appended by this process: it is not in the known state yet. */
const underWay = new WeakMap<LiveTask, Room>();

/**
 * Takes room in a log for facts that are about to be appended wherever it ends. The caller gives the room back when the facts
 * are in the known state, or will not come. Throws `RESOURCE_EXHAUSTED` if there is not enough.
 */
export function takeRoom(
  live: LiveTask,
  facts: readonly Fact[],
  { factsPerTask, bytesPerTask }: TaskLimits,
): () => void {
  if (facts.length === 0) return () => {};
  const own = { facts: facts.length, bytes: facts.reduce((sum, fact) => sum + weigh(fact), 0) };
  const others = underWay.get(live) ?? { facts: 0, bytes: 0 };
  const { version, weight } = live.state;
  if (version + others.facts + own.facts > factsPerTask || weight + others.bytes + own.bytes > bytesPerTask)
    throw tooLarge();
  change(live, own, 1);
  return () => change(live, own, -1);
}

function change(live: LiveTask, { facts, bytes }: Room, sign: 1 | -1): void {
  const known = underWay.get(live) ?? { facts: 0, bytes: 0 };
  underWay.set(live, { facts: known.facts + sign * facts, bytes: known.bytes + sign * bytes });
}

const tooLarge = (): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', 'The task has reached the size limit of this server');
