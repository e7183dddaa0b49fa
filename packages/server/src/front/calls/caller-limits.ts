import type { AgentCard, SecurityRequirement, SecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import { unmetRequirement } from '@batonjs/protocol/security';
import type { Rate, TaskStore } from '@batonjs/store';
import type { Caller } from '../../agent/caller.ts';
import { bucketOf, type CallerRate, toRate } from '../../base/caller-rate.ts';
import { insufficient } from '../../operations/card/security.ts';

/** What one caller may use of a server. All servers on the store count together: give them the same. */
export interface CallerLimits {
  /** Calls of any operation. A stream counts once, when it is opened. */
  readonly requests?: CallerRate;
  /** Messages, streamed or not. Each counts among `requests`, too. */
  readonly messages?: CallerRate;
  /**
   * Tasks of a caller that have not ended, those that wait for an answer included. A message that would start another
   * one is refused. Counted for each tenant, before the message is stored: messages that are sent at the same time may
   * each find the last place. Needs `authenticate`.
   */
  readonly unfinishedTasks?: number;
  /**
   * Returns the name that the rates count for, or undefined for a call without limits. Default: the `scope` of the
   * caller. Required without `authenticate`, for example `({ remoteAddress }) => remoteAddress ?? 'unknown'`: a client
   * that has already left has no address.
   */
  readonly callerOf?: (request: RequestHead, caller: Caller | undefined) => string | undefined;
}

/** Counts what callers do. The methods throw `RESOURCE_EXHAUSTED`, with the time after which to try again. */
interface CallerLimiter {
  request(head: RequestHead, caller: Caller | undefined): Promise<void>;
  /** Does nothing for an operation that sends no message. */
  call(operation: OperationName, head: RequestHead, caller: Caller | undefined): Promise<void>;
}

interface Given {
  readonly limits: CallerLimits | undefined;
  readonly store: TaskStore;
  /** The name of the agent. */
  readonly queue: string;
  readonly hasAuthenticate: boolean;
}

/** Undefined without limits on rates. Throws `TypeError` for limits that cannot work. */
export function createCallerLimiter({
  limits,
  store,
  queue,
  hasAuthenticate,
}: Given): CallerLimiter | undefined {
  if (!limits) return undefined;
  const { callerOf = (_, caller) => caller?.scope, unfinishedTasks } = limits;
  const requests = toRate('limits.callers.requests', limits.requests);
  const messages = toRate('limits.callers.messages', limits.messages);
  if (unfinishedTasks !== undefined && !(Number.isInteger(unfinishedTasks) && unfinishedTasks > 0))
    throw new TypeError('`limits.callers.unfinishedTasks` must be a whole number, 1 or more');
  if (unfinishedTasks !== undefined && !hasAuthenticate)
    throw new TypeError(
      '`limits.callers.unfinishedTasks` needs `authenticate`: all callers share their tasks',
    );
  if (limits.callerOf !== undefined && typeof limits.callerOf !== 'function')
    throw new TypeError('`limits.callers.callerOf` must be a function');
  if (!requests && !messages) return undefined;
  if (!hasAuthenticate && !limits.callerOf)
    throw new TypeError('The rates of `limits.callers` need `authenticate`, or `limits.callers.callerOf`');
  if (typeof store.take !== 'function')
    throw new TypeError('The rates of `limits.callers` need a store with `take`, such as those of Baton');
  const take = store.take.bind(store);

  async function count(
    what: string,
    rate: Rate | undefined,
    head: RequestHead,
    caller: Caller | undefined,
  ): Promise<void> {
    if (!rate) return;
    const name = callerOf(head, caller);
    if (name === undefined) return;
    if (typeof name !== 'string' || name === '')
      throw new TypeError('`limits.callers.callerOf` must return a text that is not empty, or undefined');
    // Not of a tenant: callers may name any.
    const waitMs = await take(bucketOf(what, queue, name), rate);
    if (waitMs === 0) return;
    const retryAfter = Math.ceil(waitMs / 1_000);
    throw new A2AError('RESOURCE_EXHAUSTED', `Too many ${what}: try again in ${retryAfter} s`, {
      retryAfter,
    });
  }

  return {
    request: (head, caller) => count('requests', requests, head, caller),
    async call(operation, head, caller) {
      if (operation === 'SendMessage' || operation === 'SendStreamingMessage')
        await count('messages', messages, head, caller);
    },
  };
}

/** Who may call, and how much. */
export interface Admission {
  readonly authenticate: Authenticate | undefined;
  readonly limiter: CallerLimiter | undefined;
}

/** The caller of a request, which is counted. Rejects as `callerOf` does, and with `RESOURCE_EXHAUSTED`. */
export const admittedCaller = (request: RequestHead, admission: Admission): Promise<Caller | undefined> =>
  admission.authenticate || admission.limiter ? admit(request, admission) : anyone;

const anyone = Promise.resolve(undefined);

async function admit(
  request: RequestHead,
  { authenticate, limiter }: Admission,
): Promise<Caller | undefined> {
  const caller = await callerOf(request, authenticate);
  if (limiter) await limiter.request(request, caller);
  return caller;
}

/** The part of a request that tells who sent it. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** Below the mount, without query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The network address of the sender, if the adapter knows it: a client that has left already has none. Behind a proxy
   * it is that of the proxy, unless the framework was told to trust it.
   */
  readonly remoteAddress?: string | undefined;
}

/**
 * Finds out the caller of a request from its headers and query. `undefined` refuses it as UNAUTHENTICATED; throw an
 * `A2AError` for another refusal, such as `PERMISSION_DENIED` for a known caller without the right. A caller whose
 * scope is no string, or empty, is refused as INTERNAL_ERROR. Ready-made ones are in `@batonjs/auth`.
 */
export interface Authenticate {
  (request: RequestHead): Caller | undefined | Promise<Caller | undefined>;
  /** The security schemes of the card, unless the card has its own. Spec: §7.3. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /**
   * The security requirements of the card: callers meet any of them. The server checks that callers with `scopes` have
   * those that it lists.
   */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/**
 * The caller of a request; undefined if the server asks for none. Rejects with `UNAUTHENTICATED`, with what
 * `authenticate` throws, and with a `TypeError` for a caller without a scope: such callers would share their tasks.
 */
export async function callerOf(
  request: RequestHead,
  authenticate: Authenticate | undefined,
): Promise<Caller | undefined> {
  if (!authenticate) return undefined;
  const caller = await authenticate(request);
  if (!caller) throw new A2AError('UNAUTHENTICATED');
  const { scope } = caller;
  if (typeof scope === 'string' && scope !== '') return caller;
  throw new TypeError('`authenticate` must return a caller whose `scope` is a string that is not empty');
}

/**
 * `authenticate`, which also refuses callers without the scopes that the card requires of every caller. Callers are judged
 * by the `scopes` that it returns; those without are not judged. The function itself if the card requires no scope. Spec:
 * §7.4.
 */
export function withRequiredScopes(
  authenticate: Authenticate | undefined,
  card: AgentCard,
): Authenticate | undefined {
  const { securityRequirements = [], securitySchemes = {} } = card;
  const lists = securityRequirements.flatMap(({ schemes = {} }) => Object.values(schemes));
  if (!authenticate || !lists.some(({ list }) => list?.length)) return authenticate;
  return async (request) => {
    const caller = await authenticate(request);
    if (!caller?.scopes) return caller;
    const { scopes, schemes } = caller;
    // The card may have other names for the schemes of `authenticate`: only scopes decide then.
    const areKnown = schemes?.length && schemes.every((name) => Object.hasOwn(securitySchemes, name));
    const granted = { scopes, ...(areKnown && { schemes }) };
    const own = securityRequirements.filter(
      ({ schemes: required = {} }) =>
        areKnown && Object.keys(required).every((name) => schemes.includes(name)),
    );
    const unmet = unmetRequirement(own.length > 0 ? own : securityRequirements, granted);
    if (unmet) throw insufficient('This agent', unmet, card);
    return caller;
  };
}
