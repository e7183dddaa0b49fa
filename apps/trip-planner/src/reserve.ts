import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Kind } from './offers.ts';

/** Books something with somebody else. The same `key` means the same booking: it may be asked for again after a crash. */
export type Reserve = (
  request: { readonly kind: Kind; readonly place: string; readonly key: string },
  signal: AbortSignal,
) => Promise<string>;

/** Stands for the airlines and hotels of a real agent: takes a moment, and gives a code that depends on the key. */
export const reserveAtOnce: Reserve = async ({ kind, place, key }, signal) => {
  await pause(250, undefined, { signal });
  const digest = createHash('sha256').update(`${kind} ${place} ${key}`).digest('hex');
  return `${kind.slice(0, 2)}-${digest.slice(0, 6)}`.toUpperCase();
};
