import { A2AError } from '@batonjs/protocol/errors';
import { A2A_JSON, isLoopback, JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';

/** An HTTP request as plain values. */
export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** Below the mount, without query, still percent-encoded: `/tasks/t-1`. The mount itself is `/` or empty. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Absent when the request has none; made with `jsonBody`. */
  readonly body?: JsonBody | undefined;
}

/** A body that is parsed when a binding first asks for it, and only once. */
export interface JsonBody {
  /** Throws `PARSE_ERROR`, or `INVALID_REQUEST` when it is nested too deeply. */
  json(): unknown;
}

/** An HTTP response as plain values. The body of a stream yields its text piece by piece. */
export interface HttpReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  readonly body?: string | AsyncIterable<string> | undefined;
  /** The content of a file, in place of `body`. */
  readonly bytes?: AsyncIterable<Uint8Array> | undefined;
}

/** A request that a client sends. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** The same call in another spelling, to be tried once if the first is answered with 404 or 405. */
  readonly alternative?: OutgoingRequest;
}

/** A response that a client received, with its whole body. Not a stream. */
export interface IncomingReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: string;
  /** Where it comes from, for errors. */
  readonly url?: string;
}

/** Whether the address of a socket is on loopback. */
export const isLoopbackAddress = (address = ''): boolean => /^(::1$|127\.|::ffff:127\.)/i.test(address);

/**
 * Whether the value of a header `Host` means this machine: `localhost`, a name below it, an address of 127.0.0.0/8 or
 * `[::1]`, each with or without a port. Nearly all are written in the way that needs no parser.
 */
export const namesThisMachine = (host: string): boolean =>
  isLoopback(host.replace(/:\d{1,5}$/, '')) || isLoopback(hostnameOf(host) ?? '');

/** The name in a header `Host`, without its port and in lower case. Undefined if it is none. */
export const hostnameOf = (host: string): string | undefined =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined;

/** How an agent is reached, for the check of the header `Host`. */
export interface OwnHost {
  /** The names under which the agent is known: those of its `publicUrl`. */
  readonly own: readonly string[];
  /** Whether the request came over loopback; undefined where the connection is not known. */
  readonly isLoopback: boolean | undefined;
}

/**
 * Whether a header `Host` may be that of a web page whose name leads here (DNS rebinding), so that its requests come from
 * the browser of a person near the agent. For agents without authentication: other pages have no credentials.
 *
 * Over loopback, each name is foreign that is neither this machine's nor the agent's own. Over a network it is if the agent
 * is known under a name of this machine only: then a browser on this machine calls it, through the published port of a
 * container perhaps. Where the connection is not known it is unless the agent is known elsewhere. Addresses and names that
 * no public server resolves cannot be those of such a page.
 */
export function isForeignHost(host: string, { own, isLoopback }: OwnHost): boolean {
  const name = hostnameOf(host) ?? '';
  if (namesThisMachine(host) || own.includes(name)) return false;
  if (isLoopback) return true;
  const isHere = own.length > 0 ? own.some(namesThisMachine) : isLoopback === undefined;
  return isHere && isPublicName(name);
}

const isPublicName = (name: string): boolean =>
  name.includes('.') && !/^[\d.]+$|\.(local|internal|home\.arpa)\.?$/.test(name);

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` unless the body is declared as JSON; parameters such as `charset` are ignored. Spec: §5.4. */
export function requireJson({ headers }: HttpRequest): void {
  const type = mediaTypeOf(headers['content-type']);
  if (type === JSON_TYPE || type === A2A_JSON) return;
  const given = type ? `is ${type.slice(0, 100)}` : 'is missing';
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `The Content-Type ${given}; send ${JSON_TYPE}`);
}

/** The type of a reply on HTTP+JSON: `application/a2a+json`, unless the client accepts only `application/json`. Spec: §11.1. */
export const replyType = ({ headers: { accept = '' } }: HttpRequest): string =>
  accept.includes(JSON_TYPE) && !/a2a\+json|\*\/\*|application\/\*/.test(accept) ? JSON_TYPE : A2A_JSON;
