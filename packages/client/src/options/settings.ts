import type { ClientBinding, ClientCompatibility } from '@batonjs/bindings';
import { httpJsonClient } from '@batonjs/bindings/http-json';
import { jsonRpcClient } from '@batonjs/bindings/json-rpc';
import type { AgentCard } from '@batonjs/protocol';
import type { CardCache } from './card-cache.ts';
import { type Clock, systemClock } from './clock.ts';
import { parseUrl } from './http-url.ts';

/** What a call may decide for itself. */
export interface CallOptions {
  /** Ends the call with `ABORTED`. The task that it is about lives on. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds until the answer must be complete, retries included, or until a stream must have started; 0 is no bound.
   * 5 minutes by default.
   */
  readonly timeoutMs?: number;
  /** Of a stream: milliseconds without a byte, heartbeats included, after which it counts as broken; 0 is no bound. */
  readonly idleTimeoutMs?: number;
  /** Sent with every request of this call, to the same origins as the `headers` of the client. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Extensions to activate, besides those of the client. */
  readonly extensions?: readonly string[];
  /** Whether this call may be repeated although its operation changes something; overrides what the client would decide. */
  readonly repeatable?: boolean;
}

/** How failures that may pass are met: exponential backoff with full jitter, `Retry-After` honoured. */
export interface RetryOptions {
  /**
   * Attempts of one call, the first one included. 5 by default; a message that may be repeated has no such bound by default, but
   * `sendForMs`. Streams that are followed go by `followForMs` alone.
   */
  readonly attempts?: number;
  /**
   * Milliseconds, after the first failure, for which a message that may be repeated is sent again: as long as the restart of
   * a server takes. 60,000 by default.
   */
  readonly sendForMs?: number;
  /** Milliseconds of the first pause, 200 by default; it doubles each time. */
  readonly firstMs?: number;
  /** Milliseconds that no pause exceeds, 10,000 by default. A longer `Retry-After` ends the retries. */
  readonly longestMs?: number;
  /**
   * Retries that all calls share but those bounded by time, 50 by default. Ten answers win one back, so that an agent in
   * trouble is soon left in peace.
   */
  readonly budget?: number;
}

/** What credentials are asked for. */
export interface CredentialsRequest {
  /** Where they will be sent. A card may name any host: look before handing out a secret. */
  readonly url: string;
  /** The `WWW-Authenticate` of the 401 that refused the ones before; absent on the first attempt. */
  readonly challenge?: string;
}

/** Headers that authenticate a request. Called for every request, so keep what is still valid. */
export type Credentials = (
  request: CredentialsRequest,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

/** How to reach an agent. */
export interface ConnectOptions {
  /** Sends the requests; a server's own `fetch` calls it without a network. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** What the client speaks; JSON-RPC and HTTP+JSON of A2A 1.0 by default. */
  readonly bindings?: readonly ClientBinding[];
  /** Other versions of the protocol to speak besides 1.0, such as `v03Client()` of `@batonjs/bindings-v0-3`. */
  readonly compatibility?: readonly ClientCompatibility[];
  /** Only interfaces with this `protocolBinding`. */
  readonly binding?: string;
  /** Only interfaces with this `protocolVersion`. */
  readonly version?: string;
  /** Whether another interface of the card is tried when one cannot be reached. On by default. Spec: §5.2. */
  readonly fallback?: boolean;
  /** Extensions to activate in every request. Spec: §3.2.6. */
  readonly extensions?: readonly string[];
  /**
   * Sent with every request to the origin of the URL that was given to `connect` (of a card that was given: to the origins of
   * its interfaces) and to `trustedOrigins`. Other origins, to which a card or a redirect may lead, never get them.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Origins that get `headers` besides the agent's own, such as `https://api.example.com`. */
  readonly trustedOrigins?: readonly string[];
  /** Asked once more, and the request repeated once, after a 401. */
  readonly credentials?: Credentials;
  /** As in `CallOptions`, for calls that do not say. */
  readonly timeoutMs?: number;
  /** Bytes that an answer which is no stream may have; 16 MiB by default. */
  readonly maxResponseBytes?: number;
  /** Bytes that one event of a stream may have; 16 MiB by default. */
  readonly maxEventBytes?: number;
  /** As in `FollowOptions`, for streams that do not say. */
  readonly followForMs?: number;
  /** `false` for none, of streams either. Operations that change something are repeated only where that is safe. */
  readonly retry?: RetryOptions | false;
  /** Whether operations that the card does not offer are refused here already. On by default. Spec: §3.3.4. */
  readonly checkCapabilities?: boolean;
  /**
   * Looks at every card before it is used, such as `verifyCard` of `@batonjs/auth`; a rejection or `false` refuses it with
   * `UNTRUSTED_CARD`. Cards of other versions are shown as they came. Spec: §8.4.3.
   */
  readonly verifyCard?: (card: AgentCard) => unknown;
  /** Keeps cards between connections. */
  readonly cards?: CardCache;
  readonly clock?: Partial<Clock>;
}

/** The options with everything filled in that has a default. */
export type Settings = ReturnType<typeof toSettings>;

/** Fills in the defaults. */
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
