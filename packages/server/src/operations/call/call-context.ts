import { createHash } from 'node:crypto';
import type { Scope } from '@batonjs/store';
import type { Claims } from '../../agent/agent.ts';

/** Who calls, as `authenticate` found out. */
export interface Caller {
  /** Names the caller, or the group whose tasks are shared: who has another one sees none of its tasks. Never empty. */
  readonly scope: string;
  /** Non-secret facts for the agent; stored with the message. */
  readonly claims?: Claims;
  /** What the caller may do, in the words of the card's security schemes. */
  readonly scopes?: readonly string[];
}

/** All that an operation needs to know besides its parameters. */
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
  /** Where a broken stream is to go on. */
  readonly lastEventId?: string | undefined;
  /** Where the server was reached, if the request may be believed to say it. */
  readonly baseUrl?: string | undefined;
}

const longestScope = 512;

let latest: { agent: string; tenant: string; caller: string; scope: Scope } | undefined;

/**
 * The scope of a caller's tasks: opaque to stores, equal only if all three are. Remembers the last, because one caller
 * mostly calls again; and a store that is given the same string again keeps it once.
 */
export function scopeOf(
  agent: string,
  tenant = '',
  { scope: caller }: Pick<Caller, 'scope'> = nobody,
): Scope {
  if (latest?.agent !== agent || latest.tenant !== tenant || latest.caller !== caller)
    latest = { agent, tenant, caller, scope: toScope(agent, tenant, caller) };
  return latest.scope;
}

const nobody = { scope: '' };

function toScope(agent: string, tenant: string, caller: string): Scope {
  const scope = JSON.stringify([agent, tenant, caller]);
  // A caller may have any name, a store takes no longer ids.
  return scope.length <= longestScope ? scope : createHash('sha256').update(scope).digest('base64url');
}
