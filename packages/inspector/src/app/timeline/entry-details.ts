import type { FactOf, LogLine } from '@batonjs/lifecycle';
import { attemptName } from '../parts/words.ts';

/** One thing that the agent threw, as those who run it see it. */
export interface Failure {
  /** The position of its entry. */
  readonly seq: number;
  readonly at: string | undefined;
  /** The turn or the step, and which attempt. */
  readonly where: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
  /** When it was, or is, tried again. */
  readonly retryAt?: string | undefined;
}

/** A person who was asked by a link. */
export interface Asked {
  readonly by: string;
  /** The operator who chose the person; undefined: the agent did. */
  readonly assignedBy: string | undefined;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Lines that the agent logged, of one entry. */
export interface Logged {
  /** The position of its entry. */
  readonly seq: number;
  /** The turn, and which attempt. */
  readonly where: string;
  readonly lines: readonly LogLine[];
  /** No more are kept. */
  readonly isFull: boolean;
}

/** A failure as an entry has it. */
export function failureOf(seq: number, fact: FactOf<'step-failed' | 'turn-failed'>): Failure {
  const { at, attempt, message, retryAt } = fact;
  const where = fact.type === 'step-failed' ? `Step ${fact.name}` : `Turn ${fact.turn}`;
  return {
    seq,
    at,
    where: retryAt ? `${where}, attempt ${attempt}` : attemptName(where, attempt),
    message,
    retryAt,
    ...(fact.type === 'turn-failed' && { stack: fact.stack, code: fact.code }),
  };
}

/** The lines of an entry. */
export function loggedOf(seq: number, { turn, attempt, lines, full }: FactOf<'turn-logged'>): Logged {
  return { seq, where: attemptName(`Turn ${turn}`, attempt), lines, isFull: full === true };
}
