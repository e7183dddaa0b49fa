import { basename, resolve } from 'node:path';
import { InputError } from './choices.ts';

/** The most characters of a package's name. */
const longest = 214;
const refused: readonly string[] = ['node_modules', 'favicon.ico'];

/** The name of the package in a folder: the folder's own. Throws an `InputError` where no package may have it. */
export function projectName(folder: string): string {
  const name = basename(resolve(folder));
  if (name === '') throw new InputError(`"${folder}" has no name: choose a folder below it`);
  if (name.length > longest)
    throw new InputError(`A name has at most ${longest} characters, not ${name.length}`);
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name) || refused.includes(name))
    throw new InputError(
      `"${name}" cannot be the name of a package: use lower-case letters, digits, ".", "-" and "_", a letter or digit first`,
    );
  return name;
}

/** The name for people: `my-agent` is `My agent`. */
export const titleOf = (name: string): string => {
  const words = name
    .split(/[._-]+/)
    .filter(Boolean)
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
