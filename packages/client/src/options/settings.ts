import { httpJsonClient } from '@batonjs/bindings/http-json';
import { jsonRpcClient } from '@batonjs/bindings/json-rpc';
import type { AgentCard } from '@batonjs/protocol';
import { compact } from '@batonjs/protocol/json';
import { mustKnowOptions, type OptionNames } from '@batonjs/protocol/options';
import type { CardCache } from './card-cache.ts';
import { systemClock } from './clock.ts';
import type { ConnectOptions, RetryOptions } from './connect-options.ts';
import { parseUrl } from './http-url.ts';

/** The options of `connect` with all defaults filled in, and the card once it is known, for the `credentials` hook. */
export type Settings = ReturnType<typeof toSettings> & { card?: AgentCard };

const known: OptionNames<ConnectOptions> = {
  fetch: true,
  bindings: true,
  compatibility: true,
  binding: true,
  version: true,
  fallback: true,
  extensions: true,
  headers: true,
  trustedOrigins: true,
  credentials: true,
  timeoutMs: true,
  maxResponseBytes: true,
  maxEventBytes: true,
  followForMs: true,
  retry: true,
  checkCapabilities: true,
  verifyCard: true,
  cards: true,
  telemetry: true,
  clock: true,
};
const ofRetry: OptionNames<RetryOptions> = {
  attempts: true,
  sendForMs: true,
  firstMs: true,
  longestMs: true,
  budget: true,
};

/**
 * Fills in the defaults. Throws `INVALID_URL` for a trusted origin that is not an HTTP URL, and a `TypeError` for an
 * option that does not exist.
 */
export function toSettings(given: ConnectOptions) {
  mustKnowOptions(given, known);
  const {
    clock,
    retry,
    trustedOrigins = [],
    bindings = [jsonRpcClient, httpJsonClient],
    compatibility = [],
    ...options
  } = compact(given);
  mustKnowOptions(retry || {}, ofRetry, 'retry');
  const attempts = retry === false ? 1 : retry?.attempts;
  return {
    fallback: true,
    extensions: [] as readonly string[],
    timeoutMs: 300_000,
    maxResponseBytes: 0x1000000,
    maxEventBytes: 0x1000000,
    checkCapabilities: true,
    followForMs: retry === false ? 0 : 60_000,
    cards: new Map() as CardCache,
    ...options,
    bindings: [...bindings, ...compatibility.flatMap((other) => other.bindings)],
    compatibility,
    origins: new Set(trustedOrigins.map((origin) => parseUrl(origin).origin)),
    retry: {
      firstMs: 200,
      longestMs: 10_000,
      budget: 50,
      sendForMs: 60_000,
      ...compact(retry),
      attempts: attempts ?? 5,
      sendAttempts: attempts ?? Number.POSITIVE_INFINITY,
    },
    clock: { ...systemClock, ...compact(clock) },
  };
}
