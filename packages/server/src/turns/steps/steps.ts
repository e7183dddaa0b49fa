import type { JsonOf, Turn } from '../../agent/agent.ts';
import { asJson } from '../../agent/as-json.ts';
import type { StepFunction, StepOptions } from '../../agent/retries/retry.ts';
import { stepIn } from '../../base/hooks/telemetry.ts';
import { isCounted, stepPolicy } from '../retries/retry-policy.ts';
import { describeThrown } from '../retries/thrown.ts';
import type { StepRecord } from './step-record.ts';
import { StepWaits } from './step-waits.ts';
import { TurnTry, tryStep } from './try-step.ts';

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
      await record.complete(name, result, options?.keep);
      return result as JsonOf<T>;
    } finally {
      waits.running--;
      if (waits.waiting > 0) waits.look();
    }
  };
}
