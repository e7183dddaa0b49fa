import type { Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { IDEMPOTENCY } from '@batonjs/protocol/headers';
import { type Operation, type OperationName, operations } from '@batonjs/protocol/operations';
import { ClientError } from '../client-error.ts';
import type { CallOptions, Settings } from '../options/settings.ts';
import type { Session } from './session.ts';

/** What is done about the failures of one call. */
export interface Retries {
  /** Returns when the call is to be tried again, at once on another interface or after a pause. Throws the error if not. */
  after(error: unknown): Promise<void>;
  /** The call got somewhere: what failed before no longer counts. */
  reset(): void;
}

/** How long a call is retried, where that is bounded by time and not by a number of attempts. */
export interface TimeBound {
  /** Milliseconds after the first failure. */
  readonly forMs: number;
  /** What is thrown when they are over, given the last failure. */
  giveUp(error: unknown): unknown;
}

/**
 * The retries of one call. Operations that only read, and those that may be repeated as they are, are retried; a message
 * is sent again only if the card lists the idempotency extension or the caller says that it may.
 */
export function startRetries(
  session: Session,
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  { repeatable = isRepeatable(session, operation, params) }: CallOptions,
  signal: AbortSignal,
  bound?: TimeBound,
): Retries {
  const { settings } = session;
  const { fallback, clock, retry } = settings;
  const { sendForMs, sendAttempts } = retry;
  const isSend = operations[operation].repeatable === 'with-idempotency';
  const giveUpSending = (error: unknown) => outOfReach(session, sendForMs, sendAgain(params), error);
  const { forMs, giveUp } = bound ?? { forMs: sendForMs, giveUp: giveUpSending };
  let attempt = 1;
  let failingSince: number | undefined;
  let waitedMs = 0;
  let tried = new Set<number>();

  const fallBack = (error: unknown) => {
    const unsent = ClientError.is(error, 'NETWORK') && (repeatable || wasRefused(error));
    const misunderstood = A2AError.is(error, 'VERSION_NOT_SUPPORTED');
    if (!fallback || !(unsent || misunderstood)) return false;
    tried.add(session.current);
    const next = session.candidates.findIndex((_, index) => !tried.has(index));
    if (next === -1) return false;
    // Now already: the calls of a stream that is followed fall back themselves, and may come back on another one.
    tried.add(next);
    session.current = next;
    return true;
  };

  /** The pause before the next attempt of a call that is bounded by time; the last attempt is at its end. */
  const pauseInTime = (error: unknown): number => {
    const now = clock.now();
    failingSince ??= now;
    const leftMs = forMs - Math.max(now - failingSince, waitedMs);
    const askedMs = askedPause(error);
    if (forMs <= 0 || askedMs > leftMs || (!bound && attempt >= sendAttempts)) throw error;
    if (leftMs <= 0) throw giveUp(error);
    const pause = Math.min(leftMs, Math.max(askedMs, usualPause(attempt, settings)));
    waitedMs += pause;
    return pause;
  };

  return {
    reset() {
      attempt = 1;
      failingSince = undefined;
      waitedMs = 0;
      tried = new Set();
    },
    async after(error) {
      if (fallBack(error)) return;
      if (!repeatable || !isTransient(error)) throw error;
      let pause: number | undefined;
      if (bound || isSend) pause = pauseInTime(error);
      else {
        pause = pauseAfter(error, attempt, settings);
        if (pause === undefined || session.budget < 10) throw error;
        session.budget -= 10;
      }
      attempt += 1;
      tried.clear();
      await clock.sleep(pause, signal);
      if (signal.aborted) throw signal.reason;
    },
  };
}

/** What is thrown when the time for retries is over; it says how to go on later. */
export const outOfReach = ({ address }: Session, forMs: number, goOn: string, cause: unknown): ClientError =>
  new ClientError('NETWORK', `No contact with ${address} for ${forMs / 1_000} s. ${goOn}`, cause);

/** How to go on where it is not known whether the message arrived. */
export const sendAgain = ({ message }: { readonly message?: unknown }): string =>
  `The agent may have received the message: send it again with messageId '${(message as Message)?.messageId}'`;

/** Milliseconds after which the same may be tried again, given how often it was; nothing if it may not. */
export function pauseAfter(error: unknown, attempt: number, settings: Settings): number | undefined {
  const { attempts, longestMs } = settings.retry;
  if (!isTransient(error) || attempt >= attempts) return undefined;
  const pause = Math.max(usualPause(attempt, settings), askedPause(error));
  return pause > longestMs ? undefined : pause;
}

const usualPause = (attempt: number, { retry, clock }: Settings): number =>
  Math.min(retry.longestMs, retry.firstMs * 2 ** (attempt - 1)) * clock.random();

/** Milliseconds that the agent asks to wait. */
const askedPause = (error: unknown): number => ((error as Partial<A2AError>).retryAfter ?? 0) * 1_000;

/** When each kind of operation may be repeated. */
const repeatableIf: Record<Operation['repeatable'], (session: Session, id: unknown) => boolean> = {
  always: () => true,
  'with-id': (_, id) => typeof id === 'string',
  'with-idempotency': (session) => session.offers(IDEMPOTENCY),
};

/** Whether sending the request twice is like sending it once. */
const isRepeatable = (
  session: Session,
  operation: OperationName,
  { id }: Readonly<Record<string, unknown>>,
) => repeatableIf[operations[operation].repeatable](session, id);

/** Whether the same call may succeed later. */
const isTransient = (error: unknown): boolean =>
  ClientError.is(error, 'NETWORK') ||
  A2AError.is(error, 'UNAVAILABLE') ||
  A2AError.is(error, 'RESOURCE_EXHAUSTED');

/** Whether a request cannot have left this machine. Only Node.js tells. */
function wasRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return true;
  }
  return false;
}
