import { type Fact, isTerminal } from '@batonjs/lifecycle';
import { recordedIn, weigh, whenFull } from '@batonjs/lifecycle/internals';
import { A2AError } from '@batonjs/protocol/errors';
import type { Limits } from '../../base/limits.ts';
import type { LiveTask } from '../live-task.ts';
import type { Decision } from './decision.ts';
import { checkMemory } from './memory-limit.ts';

type TaskLimits = Pick<Limits, 'factsPerTask' | 'bytesPerTask'>;
type DecisionLimits = TaskLimits & Pick<Limits, 'memoryBytes'>;

/**
 * How many bytes a full task still accepts of the update that ends it, and again of the last states of its children and
 * of what that update remembers.
 */
const lastWords = 64 * 1024;

/** Throws `RESOURCE_EXHAUSTED` if a decision makes the log of a task longer or larger than the limits. */
export function checkDecided({ facts, state }: Decision, limits: DecisionLimits): void {
  if (state?.agent) checkMemory(facts, state, limits);
  const { factsPerTask, bytesPerTask } = limits;
  if (!state || (state.version <= factsPerTask && state.weight <= bytesPerTask)) return;
  if (facts[0]?.type === 'turn-started') return;
  const insides = facts.filter(isInside);
  const isLast = state.closed && sizeOf(insides) <= lastWords;
  if (!facts.every((fact) => isAllowedBeyond(fact) || (isLast && isInside(fact)))) throw tooLarge();
}

const insides: ReadonlySet<string> = new Set(Object.values(recordedIn));
const isInside = ({ type }: Fact): boolean => insides.has(type);

const sizeOf = (facts: readonly Fact[]): number => facts.reduce((sum, fact) => sum + weigh(fact), 0);

/** Whether a full log still takes a fact: it does if the task needs the fact to be canceled, run or ended. */
function isAllowedBeyond(fact: Fact): boolean {
  if (fact.type === 'status-changed' && !isTerminal(fact.status.state)) return false;
  const taken = whenFull(fact);
  return taken === 'yes' || (taken === 'small' && weigh(fact) <= lastWords);
}

interface Size {
  readonly facts: number;
  readonly bytes: number;
}

/** How much this process is appending to the log of a task: it is not in the known state yet. */
const underWay = new WeakMap<LiveTask, Size>();

/**
 * Reserves a part of the limits of a log for facts that are about to be appended at its end. The caller calls the
 * returned function when the facts are in the known state, or were not appended. Throws `RESOURCE_EXHAUSTED` if too
 * little is left.
 */
export function reserveSize(
  live: LiveTask,
  facts: readonly Fact[],
  { factsPerTask, bytesPerTask }: TaskLimits,
): () => void {
  if (facts.length === 0) return () => {};
  const own = { facts: facts.length, bytes: sizeOf(facts) };
  const others = underWay.get(live) ?? { facts: 0, bytes: 0 };
  const { version, weight } = live.state;
  if (version + others.facts + own.facts > factsPerTask || weight + others.bytes + own.bytes > bytesPerTask)
    throw tooLarge();
  change(live, own, 1);
  return () => change(live, own, -1);
}

function change(live: LiveTask, { facts, bytes }: Size, sign: 1 | -1): void {
  const known = underWay.get(live) ?? { facts: 0, bytes: 0 };
  underWay.set(live, { facts: known.facts + sign * facts, bytes: known.bytes + sign * bytes });
}

const tooLarge = (): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', 'The task has reached the size limit of this server');
