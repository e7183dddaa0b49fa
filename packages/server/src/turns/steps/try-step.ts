import type { StepFailures } from '@batonjs/lifecycle';
import type { StepFunction, StepTry } from '../../agent/retries/retry.ts';
import { stepIn } from '../../base/hooks/telemetry.ts';
import { isoTime } from '../../base/timing/clock.ts';
import { nextTryAt, type StepPolicy } from '../retries/retry-policy.ts';
import { describeThrown } from '../retries/thrown.ts';
import type { StepRecord } from './step-record.ts';
import type { StepWaits } from './step-waits.ts';

/** A step whose failures are counted. */
export interface CountedStep<T> {
  readonly name: string;
  readonly fn: StepFunction<T>;
  readonly policy: StepPolicy;
}

/**
 * Calls the function of a step until it returns, or has had its tries. Goes on where earlier attempts of the turn
 * stopped: it waits for the rest of a wait, and throws if the last try failed then.
 */
export async function tryStep<T>(step: CountedStep<T>, record: StepRecord, waits: StepWaits): Promise<T> {
  const { name, policy } = step;
  const { clock } = record;
  let dueAt: number | undefined;
  for (;;) {
    const failed = record.failed(name);
    if (failed) {
      if (failed.retryAt === undefined) throw failedBefore(name, failed);
      if (!record.skipsWaits) await waits.wait(dueAt ?? clock.monotonic() + waitOf(failed, policy, record));
    }
    const entering = record.enter();
    if (entering) await entering;
    const attempt = (failed?.attempt ?? 0) + 1;
    try {
      const call = () => tryOnce(step, record, attempt);
      return await (record.span ? stepIn(record.span, name, call, attempt) : call());
    } catch (error) {
      // The turn is over: that the step stopped is no failure of it.
      if (record.abort.aborted) throw error;
      const at = nextTryAt(error, attempt, policy, clock);
      if (at !== undefined) dueAt = clock.monotonic() + at - clock.now();
      await record.fail(name, describeThrown(error).message, at === undefined ? undefined : isoTime(at));
      if (at === undefined) throw error;
    }
  }
}

/**
 * The rest of a wait that an earlier attempt began. No longer than a wait may be: the wall clock may have been set back since.
 */
function waitOf(
  { at = '', retryAt = '' }: StepFailures,
  { backoff }: StepPolicy,
  record: StepRecord,
): number {
  const due = Date.parse(retryAt);
  const longest = Math.max(backoff.maxMs, due - Date.parse(at) || 0);
  return Math.min(longest, due - Math.max(record.clock.now(), record.startedAt ?? 0));
}

const failedBefore = (name: string, { message, attempt }: StepFailures): Error =>
  Object.assign(new Error(`The step "${name}" failed in ${attempt} tries: ${message}`), {
    code: 'STEP_FAILED',
  });

async function tryOnce<T>(
  { name, fn, policy: { timeoutMs } }: CountedStep<T>,
  { abort, clock }: StepRecord,
  attempt: number,
): Promise<T> {
  if (timeoutMs === undefined) return fn(new TurnTry(abort, attempt));
  const own = new AbortController();
  const over = new AbortController();
  const outer = abort.signal;
  const follow = () => own.abort(outer.reason);
  outer.addEventListener('abort', follow);
  if (outer.aborted) follow();
  const late = clock.sleep(timeoutMs, over.signal).then(() => {
    if (over.signal.aborted) return undefined as never;
    const error = Object.assign(new Error(`The step "${name}" took longer than ${timeoutMs} ms`), {
      code: 'STEP_TIMEOUT',
    });
    own.abort(error);
    throw error;
  });
  try {
    return await Promise.race([late, (async () => fn({ signal: own.signal, attempt }))()]);
  } finally {
    over.abort();
    outer.removeEventListener('abort', follow);
  }
}

/** A try with the signal of its turn, which is made when it is first read. */
export class TurnTry implements StepTry {
  readonly #abort: { readonly signal: AbortSignal };
  readonly attempt: number;

  constructor(abort: { readonly signal: AbortSignal }, attempt: number) {
    this.#abort = abort;
    this.attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}
