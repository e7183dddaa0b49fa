import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Kind } from './offers.ts';

/** Books with another company. The same `key` means the same booking: a request may be repeated after a crash. */
export type Reserve = (
  request: { readonly kind: Kind; readonly place: string; readonly key: string },
  signal: AbortSignal,
) => Promise<string>;

/** Stands for the airlines and hotels of a real agent. Takes a moment; the code depends on the key. */
export const reserveAtOnce: Reserve = async ({ kind, place, key }, signal) => {
  await pause(250, undefined, { signal });
  const digest = createHash('sha256').update(`${kind} ${place} ${key}`).digest('hex');
  return `${kind.slice(0, 2)}-${digest.slice(0, 6)}`.toUpperCase();
};
