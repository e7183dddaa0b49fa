import type { Scope } from '@batonjs/store';
import { sha256 } from '#bytes';
import type { Caller } from '../../agent/caller.ts';

/** The circumstances of a call, besides its parameters. */
export interface CallContext {
  /** Agent, tenant and caller in one. */
  readonly scope: Scope;
  /** Undefined if the server knows no callers. */
  readonly caller: Caller | undefined;
  /** URIs of the extensions that are active. */
  readonly extensions: readonly string[];
  /** `Major.Minor` of the protocol that the call speaks. */
  readonly version: string;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** The id of the last event that the client saw of a broken stream. */
  readonly lastEventId?: string | undefined;
  /** The URL at which the server was reached, if the request can be trusted to say it. */
  readonly baseUrl?: string | undefined;
  /** Names the request in the log. */
  readonly requestId: string;
  /** Of the span of the request, if there is one. It is stored with a message. */
  readonly traceparent?: string;
}

const longestScope = 512;

let latest: { agent: string; tenant: string; caller: string; scope: Scope } | undefined;

/**
 * The scope of a caller's tasks: opaque to stores, equal only if agent, tenant and caller are. Remembers the last one:
 * the next call is usually of the same caller, and a store that gets the same string object keeps it once.
 */
export function scopeOf(
  agent: string,
  tenant = '',
  { scope: caller }: Pick<Caller, 'scope'> = anonymous,
): Scope {
  if (latest?.agent !== agent || latest.tenant !== tenant || latest.caller !== caller)
    latest = { agent, tenant, caller, scope: toScope(agent, tenant, caller) };
  return latest.scope;
}

const anonymous = { scope: '' };

function toScope(agent: string, tenant: string, caller: string): Scope {
  const scope = JSON.stringify([agent, tenant, caller]);
  // The name of a caller has any length, the scope of a store has not.
  return scope.length <= longestScope ? scope : sha256(scope, 'base64url');
}
