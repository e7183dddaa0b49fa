import type { Authenticate, Caller } from '@batonjs/server';
import { callerOf as knownCaller } from '@batonjs/server/adapter';

/** Who sends a request. Throws as the `callerOf` of a server; all are one caller if the gateway does not ask. */
export const callerOf = async (
  request: Parameters<Authenticate>[0],
  authenticate: Authenticate | undefined,
): Promise<Caller> => (await knownCaller(request, authenticate)) ?? { scope: 'anyone' };
