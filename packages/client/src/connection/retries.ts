import type { ClientBinding, ClientTransport } from '@batonjs/bindings';
import type { AgentCard, AgentInterface, Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { IDEMPOTENCY, PROTOCOL_VERSION, parseVersion } from '@batonjs/protocol/headers';
import { type Operation, type OperationName, operations } from '@batonjs/protocol/operations';
import { backoffMs } from '@batonjs/protocol/timing';
import { ClientError, isTransient, wasNotConnected } from '../client-error.ts';
import type { CallOptions, Settings } from '../options/connect-options.ts';

/** What retries read and change of a session. */
export interface RetryContext {
  readonly settings: Settings;
  readonly candidates: readonly Candidate[];
  /** The URL of the interface in use. */
  readonly address: string;
  /** Index of the interface in use. */
  current: number;
  /** Retries that all calls of the session still have, in tenths. */
  budget: number;
  offers(extension: string): boolean;
}

/** The retries of one call. */
export interface Retries {
  /**
   * Resolves when the caller should try again: at once on another interface, or after the backoff. Else rejects with the error.
   */
  after(error: unknown): Promise<void>;
  /** Forgets earlier failures, because the call made progress. */
  reset(): void;
}

/** Limits the retries of a call by time instead of by attempts. */
export interface TimeBound {
  /** Milliseconds after the first failure. */
  readonly forMs: number;
  /** The error to throw when the time is over, given the last failure. */
  giveUp(error: unknown): unknown;
}

/**
 * Starts the retries of one call. The client retries operations that only read and operations that are idempotent. It
 * sends a message again only if the card lists the idempotency extension or the caller sets `repeatable`.
 */
export function startRetries(
  session: RetryContext,
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  { repeatable = isRepeatable(session, operation, params), attempts }: CallOptions,
  signal: AbortSignal,
  bound?: TimeBound,
): Retries {
  const { settings } = session;
  const { fallback, clock, retry } = settings;
  const { sendForMs } = retry;
  const sendAttempts = attempts ?? retry.sendAttempts;
  const isSend = operations[operation].repeatable === 'with-idempotency';
  const giveUpSending = (error: unknown) => outOfReach(session, sendForMs, sendAgain(params), error);
  const { forMs, giveUp } = bound ?? { forMs: sendForMs, giveUp: giveUpSending };
  let attempt = 1;
  let failingSince: number | undefined;
  let waitedMs = 0;
  let tried = new Set<number>();

  const fallBack = (error: unknown) => {
    const unsent = ClientError.is(error, 'NETWORK') && (repeatable || wasNotConnected(error));
    const misunderstood = A2AError.is(error, 'VERSION_NOT_SUPPORTED');
    if (!fallback || !(unsent || misunderstood)) return false;
    tried.add(session.current);
    const next = session.candidates.findIndex((_, index) => !tried.has(index));
    if (next === -1) return false;
    // Mark it at once: the calls of a followed stream fall back on their own and may have changed the interface by then.
    tried.add(next);
    session.current = next;
    return true;
  };

  /** The backoff of a call that is limited by time. The last attempt happens when the time ends. */
  const pauseInTime = (error: unknown): number => {
    const now = clock.now();
    failingSince ??= now;
    const leftMs = forMs - Math.max(now - failingSince, waitedMs);
    const askedMs = askedPause(error);
    if (forMs <= 0 || (!bound && attempt >= sendAttempts)) throw error;
    // Attempts take their time too, so that nothing may be left.
    if (leftMs <= 0) throw giveUp(error);
    if (askedMs > leftMs) throw error;
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
      if (!repeatable || !isWorthRetrying(error)) throw error;
      let pause: number | undefined;
      if (bound || isSend) pause = pauseInTime(error);
      else {
        pause = pauseAfter(error, attempt, settings, attempts);
        if (pause === undefined || session.budget < 10) throw error;
        session.budget -= 10;
      }
      attempt += 1;
      tried.clear();
      await clock.sleep(pause, signal);
      signal.throwIfAborted();
    },
  };
}

/** The error for a call whose time for retries is over. `goOn` tells the caller how to continue later. */
export const outOfReach = (
  { address }: RetryContext,
  forMs: number,
  goOn: string,
  cause: unknown,
): ClientError =>
  new ClientError(
    'NETWORK',
    `No contact with ${address} for ${forMs / 1_000} s${A2AError.is(cause) ? `: ${cause.message}` : ''}. ${goOn}`,
    cause,
  );

/** The advice for a message that the agent may or may not have received. */
export const sendAgain = ({ message }: { readonly message?: unknown }): string =>
  `The agent may have received the message: send it again with messageId '${(message as Message)?.messageId}'`;

/** The backoff in milliseconds after this many attempts; undefined if the call must not be retried. */
export function pauseAfter(
  error: unknown,
  attempt: number,
  settings: Settings,
  attempts = settings.retry.attempts,
): number | undefined {
  const { longestMs } = settings.retry;
  if (!isWorthRetrying(error) || attempt >= attempts) return undefined;
  const pause = Math.max(usualPause(attempt, settings), askedPause(error));
  return pause > longestMs ? undefined : pause;
}

const usualPause = (attempt: number, { retry, clock }: Settings): number =>
  backoffMs(attempt, { initialMs: retry.firstMs, maxMs: retry.longestMs, jitter: 1 }, clock.random);

/** The `Retry-After` of an error in milliseconds. */
const askedPause = (error: unknown): number => ((error as Partial<A2AError>).retryAfter ?? 0) * 1_000;

/** When each kind of operation may be repeated. */
const repeatableIf: Record<Operation['repeatable'], (session: RetryContext, id: unknown) => boolean> = {
  always: () => true,
  'with-id': (_, id) => typeof id === 'string',
  'with-idempotency': (session) => session.offers(IDEMPOTENCY),
};

/** Whether the operation is safe to repeat. */
const isRepeatable = (
  session: RetryContext,
  operation: OperationName,
  { id }: Readonly<Record<string, unknown>>,
) => repeatableIf[operations[operation].repeatable](session, id);

/** Not after a timeout: the caller does not wait any longer. */
const isWorthRetrying = (error: unknown): boolean => isTransient(error) && !ClientError.is(error, 'TIMEOUT');

/** An interface of a card with the binding that encodes its calls. */
export interface Candidate extends AgentInterface {
  readonly codec: ClientBinding | ClientTransport;
  /** The interface's URL as one of HTTP: its origin decides which headers are sent. */
  readonly address: string;
}

/**
 * The interfaces of a card whose binding and version this client supports, in the card's order. An interface of 0.3 is none of
 * them if there is one of a newer version. Spec: §3.6.3, §8.3.2.
 */
export const candidatesOf = (card: AgentCard, settings: Settings): Candidate[] =>
  listed(card)
    .flatMap((entry) => {
      const { protocolBinding, protocolVersion } = entry;
      const entryVersion = parseVersion(protocolVersion) ?? PROTOCOL_VERSION;
      if ((settings.binding ?? protocolBinding) !== protocolBinding) return [];
      if ((settings.version ?? entryVersion) !== entryVersion) return [];
      const codec = settings.bindings.find(
        (binding) =>
          binding.version === entryVersion &&
          (binding.name === protocolBinding || ('urlOf' in binding && binding.isAlias?.(protocolBinding))),
      );
      const address = codec && addressOf(entry, codec);
      return address ? [{ ...entry, codec: codec!, address }] : [];
    })
    // Versions are compared as text: bindings have those from 0.3 to 1.1.
    .filter(({ codec: { version } }, _, all) => all.every(({ codec }) => codec.version <= version));

/** The error for a card without a usable interface. Its message lists the interfaces of the card. */
export function noInterface(card: AgentCard): ClientError {
  const offered = listed(card)
    .filter(({ url }) => URL.canParse(url) || /^[^\s/]+:\d+$/.test(url))
    .map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`);
  return new ClientError(
    'NO_INTERFACE',
    `${card.name} has no interface for this client, but ${offered.join(', ') || 'none'}`,
  );
}

const listed = ({ supportedInterfaces }: AgentCard) =>
  (supportedInterfaces ?? []).filter((entry) => typeof entry?.url === 'string');

/** Undefined for an address that the binding cannot use. */
const addressOf = ({ url }: AgentInterface, codec: ClientBinding | ClientTransport): string | undefined =>
  'urlOf' in codec ? codec.urlOf(url) : URL.canParse(url) ? url : undefined;
