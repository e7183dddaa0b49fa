import { vi } from 'vitest';
import { isShared } from './globals.ts';
import { sharesProcess } from './sharing.ts';

type Spying = (object: object, key: PropertyKey, ...rest: unknown[]) => unknown;

/** The spies of the file that runs, and the places where they were put. */
const spies: {
  readonly object: object;
  readonly key: PropertyKey;
  readonly mock: unknown;
  readonly at: Error;
}[] = [];

const spyOn = vi.spyOn as unknown as Spying;
const watched: Spying = (object, key, ...rest) => {
  if (sharesProcess() && isShared(object)) refuse(`A spy on ${String(key)}`);
  const spy = spyOn(object, key, ...rest);
  const at = new Error(`The file leaves a spy on ${String(key)}, which it put here.`);
  spies.push({ object, key, mock: Reflect.get(object, key), at });
  return spy;
};
Object.assign(vi, { spyOn: watched });

for (const name of ['useFakeTimers', 'stubGlobal', 'stubEnv', 'setSystemTime'] as const) {
  const original = vi[name] as (...args: unknown[]) => unknown;
  const guarded = (...args: unknown[]) => (sharesProcess() ? refuse(`vi.${name}`) : original(...args));
  Object.assign(vi, { [name]: guarded });
}

function refuse(what: string): never {
  throw new Error(
    `${what} changes the process, which other files share: add this file to \`alone\` in vitest.config.ts.`,
  );
}

/** Takes away the spies that are left, as errors whose stacks say where they were put. */
export function takeSpies(): Error[] {
  const left = spies.filter(({ object, key, mock }) => Reflect.get(object, key) === mock).map(({ at }) => at);
  spies.length = 0;
  if (left.length > 0) vi.restoreAllMocks();
  return left;
}
