import type { StepFailures, StepResult, Usage } from '@batonjs/lifecycle';
import type { Answer } from '@batonjs/store';
import type { JsonOf, Turn } from '../../agent/agent.ts';
import { asJson } from '../../agent/message-content.ts';
import type { StepFunction, StepOptions, StepTry } from '../../agent/retries/retry.ts';
import { stepIn, type TurnSpan } from '../../base/hooks/telemetry.ts';
import { type Clock, isoTime } from '../../base/timing/clock.ts';
import type { LazyAbort } from '../../base/timing/deadline-timers.ts';
import { isCounted, nextTryAt, type StepPolicy, stepPolicy } from '../retries/retry-policy.ts';
import { describeThrown } from '../retries/thrown.ts';

/** The stored steps of a turn. */
export interface StepRecord extends WaitDependencies {
  readonly span?: TurnSpan | undefined;
  readonly clock: Clock;
  readonly abort: Pick<LazyAbort, 'signal' | 'aborted' | 'throwIfAborted'>;
  /** What the server says for all steps. */
  readonly policy: StepPolicy;
  /** Up to when times had come as the attempt started, although the wall clock may say less: milliseconds since 1970. */
  readonly startedAt?: number;
  /** Whether the next try follows at once: in unit tests. */
  readonly skipsWaits?: boolean | undefined;
  /** The result that a step has already: of this attempt or an earlier one, or kept for the task. */
  known(name: string): StepResult | undefined;
  /** How a step failed that was not completed since. */
  failed(name: string): StepFailures | undefined;
  /** To be called right before the function is. Throws or rejects if it must not be called. */
  enter(): Promise<void> | undefined;
  /** To be called before, if the step is a call of a model. Rejects if a limit of its task, its caller or its agent is used. */
  mustHaveBudget(): Promise<void>;
  /** To be called with what a call used, before it is stored. */
  count(usage: Usage): Promise<void>;
  /** Stores a result, which is JSON. Rejects if it cannot be stored. */
  complete(name: string, result: unknown, keep?: 'task', usage?: Usage): Answer<unknown>;
  /** Stores that a try failed, and when the next one is due (ISO 8601, UTC, milliseconds), if there is one. */
  fail(name: string, message: string, retryAt: string | undefined): Answer<unknown>;
}

/** The steps of one attempt of a turn. */
export function createSteps(record: StepRecord): Turn['step'] {
  const used = new Set<string>();
  const waits = new StepWaits(record);
  const isAlwaysCounted = isCounted(record.policy);
  return async <T>(
    name: string,
    first: StepOptions | StepFunction<T>,
    second?: StepFunction<T>,
  ): Promise<JsonOf<T>> => {
    const options = typeof first === 'function' ? undefined : first;
    const fn = typeof first === 'function' ? first : second;
    if (typeof fn !== 'function') throw new TypeError(`The step "${name}" needs a function`);
    const policy = options ? stepPolicy(options, record.policy, `step "${name}"`) : record.policy;
    if (used.has(name)) throw new TypeError(`The step "${name}" was used in this turn already`);
    used.add(name);
    const { span } = record;
    const known = record.known(name);
    if (known) {
      span?.replayed(name);
      return known.result as JsonOf<T>;
    }
    if (options?.usage) await record.mustHaveBudget();
    waits.running++;
    try {
      let value: T;
      if (options ? isCounted(policy) : isAlwaysCounted)
        value = await tryStep({ name, fn, policy }, record, waits);
      else {
        const entering = record.enter();
        if (entering) await entering;
        const attempt = new TurnTry(record.abort, 1);
        try {
          value = await (span ? stepIn(span, name, () => fn(attempt)) : fn(attempt));
        } catch (error) {
          // A replay needs to know that it failed, although no later attempt does.
          if (!record.abort.aborted) await record.fail(name, describeThrown(error).message, undefined);
          throw error;
        }
      }
      // This attempt gets the same value as a later one would: JSON.
      const result = asJson(`The result of the step "${name}"`, value);
      const reported = options?.usage?.(result as never);
      const usage = reported && checked(reported);
      // Before it is stored: a call whose process dies in between was paid for all the same.
      if (usage) await record.count(usage);
      await record.complete(name, result, options?.keep, usage);
      return result as JsonOf<T>;
    } finally {
      waits.running--;
      if (waits.waiting > 0) waits.look();
    }
  };
}

/** Records a usage as a step without a result: the first one of its name counts. */
export const createUsage =
  (record: StepRecord): Turn['usage'] =>
  async (name, usage) => {
    const step = `usage ${name}`;
    if (record.known(step)) return;
    const used = checked(usage);
    await record.count(used);
    await record.complete(step, null, undefined, used);
  };

/** The usage. Throws `TypeError` for one that no call can have. */
function checked({ model, calls, inputTokens, outputTokens, cachedTokens, cost, currency }: Usage): Usage {
  const counts = { calls, inputTokens, outputTokens, cachedTokens };
  if (typeof model !== 'string' || model === '' || model.length > 128)
    throw new TypeError('The `model` of a usage must be a text of 1 to 128 characters');
  for (const [name, count] of Object.entries(counts))
    if (count !== undefined && !(Number.isInteger(count) && count >= 0 && count <= mostTokens))
      throw new TypeError(`\`${name}\` of a usage must be a whole number from 0 to ${mostTokens}`);
  if (cost === undefined && currency === undefined) return { model, ...counts };
  if (!/^[A-Z]{3}$/.test(String(currency)) || typeof cost !== 'number' || !(cost >= 0 && cost <= mostCost))
    throw new TypeError(
      `A usage has \`cost\`, a number from 0 to ${mostCost}, with \`currency\`, three capital letters such as "USD"`,
    );
  return { model, ...counts, cost, currency };
}

const mostTokens = 1e12;
const mostCost = 1e9;

export interface CountedStep<T> {
  readonly name: string;
  readonly fn: StepFunction<T>;
  readonly policy: StepPolicy;
}

/**
 * Calls the function of a step until it returns, or has had its tries. Goes on where earlier attempts of the turn
 * stopped: it waits for the rest of a wait, and throws if the last try failed then.
 */
async function tryStep<T>(step: CountedStep<T>, record: StepRecord, waits: StepWaits): Promise<T> {
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
class TurnTry implements StepTry {
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

/**
 * The longest wait for the next try of a step that a turn sits out, in milliseconds. For a longer one it gives its
 * process back, if the agent may be run again.
 */
export const longestWaitMs = 5_000;

/** What the waits of a turn need. */
interface WaitDependencies {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly abort: Pick<LazyAbort, 'signal' | 'throwIfAborted'>;
  /** Ends this attempt of the turn; the next one starts at the time (milliseconds since 1970). Undefined: it cannot. */
  readonly pause: ((until: number) => void) | undefined;
}

/**
 * The steps of a turn that run, and those that wait for their next try. The turn is paused once none of its steps runs:
 * in the middle of one, its effect would be forgotten.
 */
class StepWaits {
  readonly #dependencies: WaitDependencies;
  readonly #waiting = new Set<{ readonly until: number }>();
  /** How many steps run; those that wait do not. Each counts itself: a call would cost every step. */
  running = 0;
  /** How many steps wait. */
  waiting = 0;

  constructor(dependencies: WaitDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves at the time of the monotonic clock. Rejects with the reason of the abort if the turn is over before. */
  async wait(until: number): Promise<void> {
    const { clock, abort } = this.#dependencies;
    const waiting = { until };
    this.#waiting.add(waiting);
    this.waiting++;
    this.running--;
    this.look();
    try {
      // A timer has a longest time.
      for (let ms = until - clock.monotonic(); ms > 0; ms = until - clock.monotonic()) {
        abort.throwIfAborted();
        await clock.sleep(ms, abort.signal);
      }
      abort.throwIfAborted();
    } finally {
      this.#waiting.delete(waiting);
      this.waiting--;
      this.running++;
    }
  }

  /** To be called when a step ended, if others wait: pauses the turn if none runs, and all wait for long. */
  look(): void {
    if (this.running > 0) return;
    const { clock, pause } = this.#dependencies;
    const ms = Math.min(...[...this.#waiting].map(({ until }) => until)) - clock.monotonic();
    if (ms > longestWaitMs) pause?.(Math.ceil(clock.now() + ms));
  }
}
