import { A2AError } from '@batonjs/protocol/errors';
import type { Caller } from '../../agent/caller.ts';

/**
 * The tenants that exist: a list, or a function, which is called without a caller for the public card. Return false to
 * callers who may not know of a tenant. Spec: §3.1, multi-tenancy guide.
 */
export type Tenants =
  | readonly string[]
  | ((tenant: string, caller: Caller | undefined) => boolean | Promise<boolean>);

/** Throws `TASK_NOT_FOUND` unless the tenant exists. */
export async function checkTenant(
  tenant: string | undefined,
  caller: Caller | undefined,
  tenants: Tenants | undefined,
): Promise<void> {
  if (!tenant || !tenants) return;
  const exists = typeof tenants === 'function' ? await tenants(tenant, caller) : tenants.includes(tenant);
  if (!exists) throw new A2AError('TASK_NOT_FOUND', 'There is no such tenant', { metadata: { tenant } });
}
