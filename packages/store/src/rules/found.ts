import { StoreError } from '../port/store-error.ts';
import type { Found, FoundTask } from './change.ts';

/** A member of what a look found. Throws `UNUSABLE` if it was wanted and the adapter has left it out. */
export const foundOf = <Name extends keyof Found>(found: Found, name: Name): NonNullable<Found[Name]> =>
  found[name] ?? leftOut(name);

/** The only task that was wanted by its name. */
export const foundTask = (found: Found): FoundTask => found.tasks?.[0] ?? leftOut('tasks');

function leftOut(name: string): never {
  throw new StoreError('UNUSABLE', `The adapter of the database has not looked for \`${name}\``);
}
