import { A2AError } from '@batonjs/protocol/errors';
import { ClientError, type ClientErrorCode } from '../client-error.ts';
import type { CallOptions, Settings } from '../options/settings.ts';

/** The time in which a call must be done, and the one signal that ends all it does. */
export interface CallScope {
  readonly signal: AbortSignal;
  /** The URL that is asked; errors name it. */
  address: string;
  /** Ends everything that still runs under the signal. */
  close(): void;
  /** The deadline no longer applies; the caller's signal does. */
  lift(): void;
  /** Sets a deadline that replaces the one before. */
  limit(ms: number | undefined, code: ClientErrorCode, what: string): void;
  /** What a failure means, given that the deadline passed or the caller has left. */
  classify(error: unknown): unknown;
}

/** Starts a call's time. */
export function openScope(
  { signal, timeoutMs }: CallOptions,
  { clock, timeoutMs: usual }: Settings,
  address: string,
): CallScope {
  const whole = new AbortController();
  let timer = new AbortController();
  let failure: ClientError | undefined;
  const end = (error: ClientError) => {
    failure ??= error;
    whole.abort(failure);
  };
  const leave = () => end(new ClientError('ABORTED', 'The call was aborted', signal?.reason));
  const lift = () => timer.abort();
  const limit = (ms: number | undefined, code: ClientErrorCode, what: string) => {
    lift();
    if (!ms || ms === Number.POSITIVE_INFINITY) return;
    timer = new AbortController();
    const { signal: lifted } = timer;
    clock.sleep(ms, lifted).then(() => {
      if (!lifted.aborted)
        end(new ClientError(code, `${what} from ${nameOf(scope.address)} within ${ms} ms`));
    });
  };
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave);
  const scope: CallScope = {
    signal: whole.signal,
    address,
    lift,
    limit,
    close() {
      lift();
      signal?.removeEventListener('abort', leave);
      whole.abort();
    },
    classify: (error) =>
      failure ??
      (A2AError.is(error) || ClientError.is(error)
        ? error
        : new ClientError(
            'NETWORK',
            `${nameOf(scope.address)} cannot be reached, or the connection broke${reasonOf(error)}`,
            error,
          )),
  };
  limit(timeoutMs ?? usual, 'TIMEOUT', 'No answer');
  return scope;
}

/** The address as an error names it: without query and fragment, which may hold a secret. */
function nameOf(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

/** What the system says about a connection that failed, such as ` (ECONNREFUSED)`; only Node.js tells. */
function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string') return ` (${code})`;
  }
  return '';
}
