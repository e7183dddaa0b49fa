import type { Answer } from '@batonjs/store';
import type { JsonOf, Turn } from '../agent/agent.ts';
import { asJson } from '../agent/as-json.ts';
import type { TurnSpan } from '../base/hooks/telemetry.ts';

/** The stored steps of a turn. */
export interface StepRecord {
  readonly span?: TurnSpan | undefined;
  /** Results that this attempt or an earlier one completed, by name. */
  done(): Readonly<Record<string, unknown>>;
  /** To be called right before the function is. Throws or rejects if it must not be called. */
  enter(): Promise<void> | undefined;
  /** Stores a result, which is JSON. Rejects if it cannot be stored. */
  complete(name: string, result: unknown): Answer<unknown>;
}

/** The steps of one attempt of a turn. */
export function createSteps(record: StepRecord): Turn['step'] {
  const used = new Set<string>();
  return async <T>(name: string, fn: () => T | Promise<T>): Promise<JsonOf<T>> => {
    if (used.has(name)) throw new TypeError(`The step "${name}" was used in this turn already`);
    used.add(name);
    const { span } = record;
    const done = record.done();
    if (Object.hasOwn(done, name)) {
      span?.replayed(name);
      return done[name] as JsonOf<T>;
    }
    const entering = record.enter();
    if (entering) await entering;
    // This attempt gets the same value as a later one would: JSON.
    const result = asJson(`The result of the step "${name}"`, await (span ? span.step(name, fn) : fn()));
    await record.complete(name, result);
    return result as JsonOf<T>;
  };
}
