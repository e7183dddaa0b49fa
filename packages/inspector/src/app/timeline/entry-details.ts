import type { FactOf } from '@batonjs/lifecycle';
import { attemptName } from '../parts/words.ts';

export type Failure = Readonly<ReturnType<typeof failureOf>>;

/** A person who was asked by a link. */
export interface Asked {
  readonly by: string;
  /** The operator who chose the person; undefined: the agent did. */
  readonly assignedBy: string | undefined;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export type Logged = Readonly<ReturnType<typeof loggedOf>>;

/** One thing that the agent threw, as those who run it see it. `seq`: the position of its entry. */
export function failureOf(seq: number, fact: FactOf<'step-failed' | 'turn-failed'>) {
  const { at, attempt, message, retryAt } = fact;
  const where = fact.type === 'step-failed' ? `Step ${fact.name}` : `Turn ${fact.turn}`;
  return {
    seq,
    at,
    /** The turn or the step, and which attempt. */
    where: retryAt ? `${where}, attempt ${attempt}` : attemptName(where, attempt),
    message,
    /** When it was, or is, tried again. */
    retryAt,
    ...(fact.type === 'turn-failed' && { stack: fact.stack, code: fact.code }),
  };
}

/**
 * The lines that the agent logged, of the entry at a position. `where`: the turn, and which attempt. `isFull`: no more are
 * kept.
 */
export const loggedOf = (seq: number, { turn, attempt, lines, full }: FactOf<'turn-logged'>) => ({
  ...{ seq, lines },
  where: attemptName(`Turn ${turn}`, attempt),
  isFull: full === true,
});
