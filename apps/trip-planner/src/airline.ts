import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** A flight that is ordered. The same `key` means the same flight. The airline posts a `Confirmation` to `confirmTo`. */
export interface Order {
  readonly place: string;
  readonly key: string;
  readonly confirmTo: string;
}

/** Orders a flight. Resolves when the airline has the order, which it confirms later. */
export type Airline = (order: Order) => Promise<void>;

/** What an airline confirms with, as JSON Schema. */
export const Confirmation = {
  type: 'object',
  properties: { code: { type: 'string' } },
  required: ['code'],
};

/** Stands for an airline: takes any order, and confirms it a moment later. The code depends on the key. */
export const quickAirline: Airline = async ({ place, key, confirmTo }) => {
  const digest = createHash('sha256').update(`flight ${place} ${key}`).digest('hex');
  const body = JSON.stringify({ code: `FL-${digest.slice(0, 6)}`.toUpperCase() });
  const headers = { 'content-type': 'application/json' };
  const confirm = async () => {
    await pause(250, undefined, { ref: false });
    await fetch(confirmTo, { method: 'POST', headers, body });
  };
  // As an airline that cannot reach the agent: the agent asks again.
  confirm().catch(() => {});
};
