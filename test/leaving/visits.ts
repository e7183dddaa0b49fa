import { request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../kit/until.ts';
import { type countHeld, type Held, more, nothingMore } from './held.ts';

/** How many clients come and leave at a time. */
export const clients = 4;

/** A door that a test opens: a function that waits until it is open, and how many wait. */
export function closedDoor() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  return {
    get waiting() {
      return waiting;
    },
    async pass(): Promise<void> {
      waiting += 1;
      await promise;
    },
    open: resolve,
  };
}

/** How clients come and leave. */
export interface Visits {
  /** What the client of this number does. It breaks off when the signal aborts, however far it is. */
  readonly visit: (client: number, signal: AbortSignal) => Promise<unknown>;
  /** Throws until all clients are there, given what is held for them. */
  readonly areThere: (grown: Readonly<Record<string, number>>) => void;
  /** What happens once the requests of all clients have ended. */
  readonly afterwards?: () => unknown;
}

/** Lets clients come, waits until they are there, lets them leave, and waits until nothing is held for them. */
export async function comeAndLeave(
  held: ReturnType<typeof countHeld>,
  { visit, areThere, afterwards }: Visits,
): Promise<void> {
  const before: Held = held.now();
  const gone = new AbortController();
  const visits = Promise.allSettled(
    Array.from({ length: clients }, (_, client) => visit(client, gone.signal)),
  );
  await eventually(() => areThere(more(before, held.now())));
  gone.abort();
  await visits;
  await eventually(() => expect(more(before, held.now())['a request']).toBeUndefined());
  await afterwards?.();
  // What goes on only now would not be held yet.
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  await nothingMore(before, () => held.now());
}

/** All clients are there once so much more of something is held. */
export const hold =
  (what: string) =>
  (grown: Readonly<Record<string, number>>): void =>
    expect(grown[what]).toBeGreaterThanOrEqual(clients);

/**
 * Gets a URL over a connection of its own, which the signal breaks off: `fetch` keeps others open. `begun` is called when
 * the response begins. Resolves at its end.
 */
export const visitUrl = (
  url: string,
  signal: AbortSignal,
  { begun = () => {} }: { begun?(): unknown } = {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, signal }, (response) => {
      response.once('data', begun).on('error', reject).on('end', resolve);
    });
    sent.on('error', reject).end();
  });
