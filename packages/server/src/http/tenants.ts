import { A2AError } from '@batonjs/protocol/errors';
import type { Caller } from '../agent/caller.ts';

/**
 * Which tenants there are: a list, or what says so, for the public card without a caller. A caller who may not know of a
 * tenant is best told that there is none. Spec: §3.1, multi-tenancy guide.
 */
export type Tenants =
  | readonly string[]
  | ((tenant: string, caller: Caller | undefined) => boolean | Promise<boolean>);

/** Throws as if nothing were there, unless there is such a tenant. */
export async function checkTenant(
  tenant: string | undefined,
  caller: Caller | undefined,
  tenants: Tenants | undefined,
): Promise<void> {
  if (!tenant || !tenants) return;
  const exists = typeof tenants === 'function' ? await tenants(tenant, caller) : tenants.includes(tenant);
  if (!exists) throw new A2AError('TASK_NOT_FOUND', 'There is no such tenant', { metadata: { tenant } });
}
