import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Keeps what closes something until its time has come. */
export type AtEnd = (close: () => void | Promise<void>) => void;

/** A new folder that is deleted when the test ends: after everything that the test opened in it later was closed. */
export function temporaryFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
