import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

/** Where another user may go too; undefined if there is no such folder. That of this user may be closed to others. */
export const folderForEveryone = (): string | undefined =>
  [tmpdir(), '/tmp', '/var/tmp', '/dev/shm'].find(isReachable);

/** Whether everybody may pass through a folder and all above it. */
function isReachable(folder: string): boolean {
  try {
    const mayPass = (statSync(folder).mode & 0o001) !== 0;
    return mayPass && (dirname(folder) === folder || isReachable(dirname(folder)));
  } catch {
    return false;
  }
}
