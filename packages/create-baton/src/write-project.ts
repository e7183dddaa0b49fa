import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { InputError } from './choices.ts';

/** What a folder may have before: a repository that was just made. */
const allowed: readonly string[] = ['.git'];

/**
 * Writes files to a folder, which is made if it is missing. Throws an `InputError` if it is not empty. A failure leaves
 * the folder as it was.
 */
export function writeProject(folder: string, files: ReadonlyMap<string, string>): void {
  const target = resolve(folder);
  checkEmpty(folder, target);
  // The first folder that is missing: what a failure removes again.
  const made = mkdirSync(target, { recursive: true });
  let staging: string | undefined;
  const moved: string[] = [];
  try {
    // Within the folder: renaming does not leave its file system.
    staging = mkdtempSync(join(target, '.create-baton-'));
    for (const [path, text] of files) {
      const file = join(staging, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    for (const entry of readdirSync(staging)) {
      renameSync(join(staging, entry), join(target, entry));
      moved.push(join(target, entry));
    }
    rmdirSync(staging);
  } catch (error) {
    for (const path of [...moved, ...(staging ? [staging] : [])])
      rmSync(path, { recursive: true, force: true });
    if (made) rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

/** Throws an `InputError` unless the folder is missing or empty. `folder` is how the user wrote it. */
export function checkEmpty(folder: string, target = resolve(folder)): void {
  let found: string[];
  try {
    found = readdirSync(target).filter((name) => !allowed.includes(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code === 'ENOTDIR') throw new InputError(`"${folder}" is a file, or below one`);
    throw error;
  }
  if (found.length === 0) return;
  const rest = found.length > 3 ? ` and ${found.length - 3} more` : '';
  throw new InputError(`The folder "${folder}" is not empty: ${found.slice(0, 3).join(', ')}${rest}`);
}
