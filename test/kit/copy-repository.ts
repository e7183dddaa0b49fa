import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../repository/source-files.ts';

/** Copies what git knows or would add, as a clone has it. */
export async function copyRepository(clone: string): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', list, { cwd: root, maxBuffer: 1e8 });
  const files = new Set(stdout.split('\0').filter((file) => file !== '' && existsSync(join(root, file))));
  await Promise.all(Array.from(files, (file) => cp(join(root, file), join(clone, file))));
}
