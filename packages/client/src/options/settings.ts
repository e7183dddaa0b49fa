import { httpJsonClient } from '@batonjs/bindings/http-json';
import { jsonRpcClient } from '@batonjs/bindings/json-rpc';
import type { AgentCard } from '@batonjs/protocol';
import { compact } from '@batonjs/protocol/json';
import { mustKnowOptions, withDefaults } from '@batonjs/protocol/options';
import type { CardCache } from './card-cache.ts';
import { systemClock } from './clock.ts';
import { type ConnectOptions, connectOptions, retryOptions } from './connect-options.ts';
import { parseUrl } from './http-url.ts';

/** The options of `connect` with all defaults filled in, and the card once it is known, for the `credentials` hook. */
export type Settings = ReturnType<typeof toSettings> & { card?: AgentCard };

/**
 * Fills in the defaults. Throws `INVALID_URL` for a trusted origin that is not an HTTP URL, and a `TypeError` for an
 * option that does not exist.
 */
export function toSettings(given: ConnectOptions) {
  mustKnowOptions(given, { ...connectOptions, retry: retryOptions });
  const {
    clock,
    retry,
    trustedOrigins,
    bindings = [jsonRpcClient, httpJsonClient],
    compatibility,
    cards = new Map() as CardCache,
    followForMs = retry === false ? 0 : 60_000,
    ...options
  } = withDefaults(connectOptions, given);
  const { attempts, ...ofRetry } = withDefaults(
    retryOptions,
    retry || { attempts: retry === false ? 1 : undefined },
  );
  return {
    ...options,
    cards,
    followForMs,
    bindings: [...bindings, ...compatibility.flatMap((other) => other.bindings)],
    compatibility,
    origins: new Set(trustedOrigins.map((origin) => parseUrl(origin).origin)),
    retry: { ...ofRetry, attempts: attempts ?? 5, sendAttempts: attempts ?? Number.POSITIVE_INFINITY },
    clock: { ...systemClock, ...compact(clock) },
  };
}
