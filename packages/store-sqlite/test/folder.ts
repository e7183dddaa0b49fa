import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new empty folder, in that for temporary files unless another is named. */
export const newFolder = (inside = tmpdir()): string => mkdtempSync(join(inside, 'baton-sqlite-'));

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** A path in a folder of its own, which is deleted after the test. */
export function freshPath(name = 'tasks.db', inside?: string): string {
  const folder = newFolder(inside);
  onTestFinished(() => removeFolder(folder));
  return join(folder, name);
}
