import { httpJsonClient } from '@batonjs/bindings/http-json';
import { jsonRpcClient } from '@batonjs/bindings/json-rpc';
import type { AgentCard } from '@batonjs/protocol';
import type { CardCache } from './card-cache.ts';
import { systemClock } from './clock.ts';
import type { ConnectOptions } from './connect-options.ts';
import { parseUrl } from './http-url.ts';

/** The options of `connect` with all defaults filled in, and the card once it is known, for the `credentials` hook. */
export type Settings = ReturnType<typeof toSettings> & { card?: AgentCard };

/** Fills in the defaults. Throws `INVALID_URL` for a trusted origin that is not an HTTP URL. */
export const toSettings = ({
  clock,
  retry,
  trustedOrigins = [],
  bindings = [jsonRpcClient, httpJsonClient],
  compatibility = [],
  ...options
}: ConnectOptions) => ({
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
    ...(retry || {}),
    attempts: retry === false ? 1 : (retry?.attempts ?? 5),
    sendAttempts: retry === false ? 1 : (retry?.attempts ?? Number.POSITIVE_INFINITY),
  },
  clock: { ...systemClock, ...clock },
});
