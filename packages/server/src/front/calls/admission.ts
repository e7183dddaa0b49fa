import type { Caller } from '../../agent/caller.ts';
import { type Authenticate, callerOf, type RequestHead } from './authenticate.ts';
import type { CallerLimiter } from './caller-limits.ts';

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
