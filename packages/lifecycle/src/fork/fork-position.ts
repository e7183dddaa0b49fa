import { invalidParams } from '@batonjs/protocol/errors';
import type { Fact } from '../facts/facts.ts';
import { isTerminal } from '../facts/states.ts';
import type { ForkFrom } from './fork.ts';

/** The position in a log. Throws `INVALID_PARAMS` if the log has none. */
export function positionOf(facts: readonly Fact[], from: ForkFrom): number {
  if (from === 'start') return 1;
  if ('step' in from) {
    const at = facts.findLastIndex((fact) => fact.type === 'step-completed' && fact.name === from.step);
    if (at < 0) throw invalid(`the task has completed no step "${from.step}"`);
    return at + 1;
  }
  const { position } = from;
  if (!Number.isInteger(position) || position < 1 || position > facts.length)
    throw invalid(`a position of this task is a whole number from 1 to ${facts.length}`);
  return position;
}

/** The facts up to the position. Throws `INVALID_PARAMS` if the task had ended there. */
export function cutAt(facts: readonly Fact[], position: number): readonly Fact[] {
  const end = facts.findIndex(closes);
  if (end >= 0 && position > end) throw invalid(`the task has ended at position ${position}`);
  // The end of a turn and that of its task are one commit.
  const isEnding = end >= 0 && position === end && facts[position - 1]?.type === 'turn-ended';
  return facts.slice(0, isEnding ? position - 1 : position);
}

const closes = (fact: Fact): boolean =>
  fact.type === 'answered' || (fact.type === 'status-changed' && isTerminal(fact.status.state));

const invalid = (description: string) => invalidParams([{ field: 'from', description }]);
