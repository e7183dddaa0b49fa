import type { StepResult } from '@batonjs/lifecycle';
import type { Answer } from '@batonjs/store';
import { sha256 } from '#bytes';
import type { Turn } from '../../agent/agent.ts';
import { randomText } from '../../base/system/random-text.ts';

/** The step that keeps the secret. Its record makes the keys the same in every attempt of the turn. */
export const secretStep = '@batonjs/idempotency-keys';

/** The recorded steps of a turn. */
interface Steps {
  /** The result of a step, if it was completed. */
  done(name: string): StepResult | undefined;
  /** Stores a result. Rejects if it cannot be stored. */
  complete(name: string, result: unknown): Answer<unknown>;
}

/** The keys of one turn: hashes of names with a secret, which is recorded before the first of them is given out. */
export function createIdempotencyKeys({ done, complete }: Steps): Turn['idempotencyKey'] {
  let recording: Promise<void> | undefined;
  const record = async (): Promise<void> => {
    try {
      await complete(secretStep, randomText(32));
    } finally {
      recording = undefined;
    }
  };
  return async (name) => {
    if (typeof name !== 'string' || name === '') throw new TypeError('An idempotency key needs a name');
    if (!done(secretStep)) {
      recording ??= record();
      await recording;
    }
    return sha256(JSON.stringify([name, done(secretStep)?.result]), 'base64url');
  };
}
