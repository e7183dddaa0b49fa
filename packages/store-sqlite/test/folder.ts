import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { quickFolder } from '../../../test/support/quick-folder.ts';

/** A new empty folder, in memory where that is possible unless another place is named. */
export const newFolder = (inside = quickFolder()): string => mkdtempSync(join(inside, 'baton-sqlite-'));

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** A path in a folder of its own, which is deleted after the test. */
export function freshPath(name = 'tasks.db', inside?: string): string {
  const folder = newFolder(inside);
  onTestFinished(() => removeFolder(folder));
  return join(folder, name);
}
