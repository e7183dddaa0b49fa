import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memory = '/dev/shm';

/** Databases of tests are small. A container has 64 MB there unless it is told otherwise. */
const roomy = 1024 ** 3;

/**
 * Where tests that kill no machine keep their databases: in memory where the system has room there. A commit waits for no disk
 * then. Elsewhere it is the folder for temporary files.
 */
export function quickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > roomy ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}
