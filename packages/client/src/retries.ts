import { A2AError } from '@batonjs/protocol/errors';
import { IDEMPOTENCY } from '@batonjs/protocol/headers';
import type { OperationName } from '@batonjs/protocol/operations';
import { ClientError } from './client-error.ts';
import type { Session } from './session.ts';
import type { CallOptions, Settings } from './settings.ts';

/** What is done about the failures of one call. */
export interface Retries {
  /** Returns when the call is to be tried again, at once on another interface or after a pause. Throws the error if not. */
  after(error: unknown): Promise<void>;
  /** The call got somewhere: what failed before no longer counts. */
  reset(): void;
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
  following = false,
): Retries {
  const { fallback, clock } = session.settings;
  let attempt = 1;
  let tried = new Set<number>();

  const fallBack = (error: unknown) => {
    const unsent = ClientError.is(error, 'NETWORK') && (repeatable || wasRefused(error));
    const misunderstood = A2AError.is(error) && error.reason === 'VERSION_NOT_SUPPORTED';
    if (!fallback || !(unsent || misunderstood)) return false;
    tried.add(session.current);
    const next = session.candidates.findIndex((_, index) => !tried.has(index));
    if (next === -1) return false;
    // Now already: the calls of a stream that is followed fall back themselves, and may come back on another one.
    tried.add(next);
    session.current = next;
    return true;
  };

  return {
    reset() {
      attempt = 1;
      tried = new Set();
    },
    async after(error) {
      if (fallBack(error)) return;
      const pause = repeatable ? pauseAfter(error, attempt++, session.settings) : undefined;
      if (pause === undefined) throw error;
      if (!following && session.budget < 10) throw error;
      if (!following) session.budget -= 10;
      tried.clear();
      await clock.sleep(pause, signal);
      if (signal.aborted) throw signal.reason;
    },
  };
}

/** Milliseconds after which the same may be tried again, given how often it was; nothing if it may not. */
export function pauseAfter(error: unknown, attempt: number, { retry, clock }: Settings): number | undefined {
  if (!isTransient(error) || attempt >= retry.attempts) return undefined;
  const { retryAfter = 0 } = error as Partial<A2AError>;
  const usual = Math.min(retry.longestMs, retry.firstMs * 2 ** (attempt - 1)) * clock.random();
  const pause = Math.max(usual, retryAfter * 1_000);
  return pause > retry.longestMs ? undefined : pause;
}

/** Whether doing it twice is like doing it once. */
const isRepeatable = (
  session: Session,
  operation: OperationName,
  { id }: Readonly<Record<string, unknown>>,
) =>
  operation.startsWith('Send')
    ? session.offers(IDEMPOTENCY)
    : !operation.startsWith('Create') || typeof id === 'string';

/** Whether the same call may succeed later. */
const isTransient = (error: unknown): boolean =>
  ClientError.is(error, 'NETWORK') ||
  (A2AError.is(error) && (error.reason === 'UNAVAILABLE' || error.reason === 'RESOURCE_EXHAUSTED'));

/** Whether a request cannot have left this machine. Only Node.js tells. */
function wasRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return true;
  }
  return false;
}
