import type { Turn } from './agent.ts';
import type { LeasedTask } from './leased-task.ts';

/** The steps of one attempt of a turn. */
export function createSteps(leased: LeasedTask): Turn['step'] {
  const used = new Set<string>();
  return async <T>(name: string, fn: () => T | Promise<T>): Promise<T> => {
    if (used.has(name)) throw new TypeError(`The step "${name}" was used in this turn already`);
    used.add(name);
    const done = leased.state.openTurn?.steps ?? {};
    if (Object.hasOwn(done, name)) return done[name] as T;
    const result = await fn();
    // What a later attempt would get is what this one gets: JSON.
    const plain = result === undefined ? null : JSON.parse(JSON.stringify(result));
    await leased.write(() => [{ type: 'complete-step', name, result: plain }]);
    return plain;
  };
}
