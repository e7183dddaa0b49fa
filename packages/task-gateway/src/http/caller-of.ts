import { A2AError } from '@batonjs/protocol/errors';
import type { Authenticate, Caller } from '@batonjs/server';

/** The caller of a gateway that does not ask who calls. */
const anyCaller: Caller = { scope: 'anyone' };

/** Who sends a request. Throws `UNAUTHENTICATED` if `authenticate` does not know. */
export async function callerOf(
  request: Parameters<Authenticate>[0],
  authenticate: Authenticate | undefined,
): Promise<Caller> {
  if (!authenticate) return anyCaller;
  const caller = await authenticate(request);
  if (!caller) throw new A2AError('UNAUTHENTICATED');
  if (typeof caller.scope !== 'string' || caller.scope === '')
    throw new TypeError('`authenticate` must return a caller whose `scope` is a string that is not empty');
  return caller;
}
