import { builtinModules } from 'node:module';
import { basename, resolve } from 'node:path';
import { InputError } from './choices.ts';

/** The most characters of a package's name. */
const longest = 214;
const refused: readonly string[] = ['node_modules', 'favicon.ico'];

/**
 * The name of the package in a folder below the working folder, which is the folder's own; that of the working folder for
 * `.`. Throws an `InputError` for a path, which could lead out of the working folder, and where no package may have the name.
 */
export function projectName(folder: string): string {
  const name = folder === '.' ? basename(resolve(folder)) : folder;
  if (name === '') throw new InputError('This folder has no name: choose one below it');
  if (/[/\\]/.test(name) || name === '..')
    throw new InputError(`"${name}" is a path: give the name of a new folder, or "." for this one`);
  if (name.length > longest)
    throw new InputError(`A name has at most ${longest} characters, not ${name.length}`);
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name) || refused.includes(name) || builtinModules.includes(name))
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
