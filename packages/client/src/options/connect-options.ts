import type { ClientBinding, ClientCompatibility, ClientTransport } from '@batonjs/bindings';
import { httpJsonClient } from '@batonjs/bindings/http-json';
import { jsonRpcClient } from '@batonjs/bindings/json-rpc';
import type { AgentCard } from '@batonjs/protocol';
import { compact } from '@batonjs/protocol/json';
import { mustKnowOptions, type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import { sleep } from '@batonjs/protocol/timing';
import { ClientError } from '../client-error.ts';
import type { ClientTelemetry } from './telemetry.ts';

/** A card with the caching headers of its response. */
export interface CachedCard {
  readonly card: AgentCard;
  readonly etag: string | null;
  /** The client uses the cached card without asking until this time, in milliseconds since 1970. */
  readonly freshUntil: number;
}

/** Stores cards by their URL. A `Map` implements it. */
export interface CardCache {
  get(url: string): CachedCard | undefined;
  set(url: string, card: CachedCard): unknown;
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborting it ends the call with `ABORTED`. The task continues to run. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds until the answer must be complete, retries included, or until a stream must have started. Default
   * 300,000 (5 minutes); 0 means no limit. It holds beyond the 300 s of `fetch` in Node.js too.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Streams only: milliseconds without a byte, heartbeats included, after which the connection counts as broken; 0
   * means no limit.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Headers for every request of this call. They go to the same origins as the `headers` of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Extensions to activate in addition to those of the client. */
  readonly extensions?: readonly string[] | undefined;
  /** Whether the client may retry this call although its operation changes something. Overrides the client's own rule. */
  readonly repeatable?: boolean | undefined;
  /**
   * Attempts of this call, the first one included, instead of those of `retry`. 1 is for a caller that tries again by
   * itself: two kinds of retries would multiply. A followed stream has `followForMs` instead.
   */
  readonly attempts?: number | undefined;
}

/**
 * How the client retries calls that failed temporarily, with the defaults: exponential backoff with full jitter;
 * `Retry-After` is respected.
 */
const retryOptions = {
  /**
   * Attempts per call, the first one included. Default 5. Messages that may be sent again are by default limited by
   * `sendForMs` alone; followed streams are limited by `followForMs` alone.
   */
  attempts: undefined as number | undefined,
  /**
   * Milliseconds after the first failure during which a message that may be repeated is sent again. Default 60,000,
   * which covers the restart of a server.
   */
  sendForMs: 60_000,
  /** Milliseconds of the first backoff, which doubles with every attempt. Default 200. */
  firstMs: 200,
  /** The longest backoff in milliseconds. Default 10,000. A longer `Retry-After` ends the retries. */
  longestMs: 10_000,
  /**
   * Retries that all calls share, except those limited by time. Default 50. Every ten successful calls add one, so that
   * the client soon stops retrying against an agent that keeps failing.
   */
  budget: 50,
};

/** How the client retries calls that failed temporarily. */
export type RetryOptions = OptionsOf<typeof retryOptions>;

/** What the `credentials` hook gets about a request. */
export interface CredentialsRequest {
  /** The URL that receives the credentials. A card may name any host: check it before you return a secret. */
  readonly url: string;
  /** Whether the origin of `url` is one that also receives the `headers` of the client. */
  readonly isTrusted: boolean;
  /** The agent's card. Undefined for the request that reads it. */
  readonly card: AgentCard | undefined;
  /** The `WWW-Authenticate` header of the answer that refused the previous credentials; absent on the first attempt. */
  readonly challenge?: string | undefined;
  /** The headers that were refused, as the hook returned them. */
  readonly refused?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the headers that authenticate a request; undefined for none, or if it has no better ones than those that were
 * refused. The client calls it for every request: cache headers that are still valid.
 */
export type Credentials = (
  request: CredentialsRequest,
) => Readonly<Record<string, string>> | undefined | Promise<Readonly<Record<string, string>> | undefined>;

const connectOptions = {
  /** Sends the requests. The `fetch` of a server in the same process calls it without a network. */
  fetch: undefined as ((request: Request) => Promise<Response>) | undefined,
  /**
   * The bindings that the client supports, such as `grpcClient()` of `@batonjs/bindings-grpc`. Default: JSON-RPC and
   * HTTP+JSON of A2A 1.0.
   */
  bindings: undefined as readonly (ClientBinding | ClientTransport)[] | undefined,
  /** Other protocol versions to support besides 1.0, such as `v03Client()` of `@batonjs/bindings-v0-3`. */
  compatibility: [] as readonly ClientCompatibility[],
  /** Restricts the client to interfaces with this `protocolBinding`. */
  binding: undefined as string | undefined,
  /** Restricts the client to interfaces with this `protocolVersion`. */
  version: undefined as string | undefined,
  /** Whether the client tries another interface of the card when one cannot be reached. Default true. Spec: §5.2. */
  fallback: true,
  /** Extensions to activate in every request. Spec: §3.2.6. */
  extensions: [] as readonly string[],
  /**
   * Headers for every request to the origin of the URL passed to `connect` (with a card: to the origins of its
   * interfaces) and to `trustedOrigins`. Other origins, named by a card or a redirect, never receive them.
   */
  headers: undefined as Readonly<Record<string, string>> | undefined,
  /** Origins that receive `headers` in addition to the agent's own, such as `https://api.example.com`. */
  trustedOrigins: [] as readonly string[],
  /**
   * Returns the credentials of a request; `oauth()` of `@batonjs/oauth` is one such hook. After a 401, and after a 403
   * with `error="insufficient_scope"`, the client calls it again and repeats the request once.
   */
  credentials: undefined as Credentials | undefined,
  /** The default for `timeoutMs` of `CallOptions`. */
  timeoutMs: 300_000,
  /** The maximum size in bytes of a response that is not a stream. Default 16 MiB; of a card at most 1 MiB. */
  maxResponseBytes: 0x1000000,
  /** The maximum size in bytes of one event of a stream. Default 16 MiB. */
  maxEventBytes: 0x1000000,
  /** The default for `followForMs` of `FollowOptions`. */
  followForMs: undefined as number | undefined,
  /**
   * `false` turns off all retries, those of streams too. Operations that change something are retried only when safe.
   */
  retry: undefined as RetryOptions | false | undefined,
  /** Whether the client itself refuses operations that the card does not offer. Default true. Spec: §3.3.4. */
  checkCapabilities: true,
  /**
   * Checks every card before the client uses it; `verifyCard` of `@batonjs/auth` is one such check. A rejection or
   * `false` refuses the card with `UNTRUSTED_CARD`. Cards of other protocol versions are passed untranslated. Spec:
   * §8.4.3.
   */
  verifyCard: undefined as ((card: AgentCard) => unknown) | undefined,
  /** Shares cards between connections. Default: a cache of this connection only. */
  cards: undefined as CardCache | undefined,
  /** Is told about calls while they last: `clientTelemetry()` of `@batonjs/telemetry`. */
  telemetry: undefined as ClientTelemetry | undefined,
  /** Replaces the clock, for tests. */
  clock: undefined as Partial<Clock> | undefined,
};

/** Options of `connect`. */
export type ConnectOptions = OptionsOf<typeof connectOptions>;

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

/** Parses an absolute `http:` or `https:` URL. Throws `INVALID_URL` for anything else; its message suggests a fix. */
export function parseUrl(given: string | URL): URL {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  const meant = `http://${given}`;
  const hint = !String(given).includes('//') && URL.canParse(meant) ? `: did you mean ${meant}` : '';
  throw new ClientError('INVALID_URL', `"${given}" is no http:// or https:// URL${hint}`);
}

/** The source of time and randomness. Tests may replace it. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after this many milliseconds, or when the signal aborts. Never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A random number of at least 0 and less than 1. */
  readonly random: () => number;
}

/** The clock of this process. */
export const systemClock: Clock = { now: Date.now, random: Math.random, sleep };
