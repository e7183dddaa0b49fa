import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MISSING_FILE } from './missing.ts';

/** Before and after a run of the tests: its last line says which tests were skipped for lack of what, once each. */
export default function sayWhatIsMissing(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'baton-missing-'));
  const file = join(folder, 'missing');
  writeFileSync(file, '');
  process.env[MISSING_FILE] = file;
  return () => {
    const lines = new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean));
    rmSync(folder, { recursive: true });
    if (lines.size > 0) console.log(`Some tests were skipped. ${[...lines].sort().join(' ')}`);
  };
}
