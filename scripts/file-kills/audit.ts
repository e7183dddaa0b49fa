import { createHash } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import type { FileStore } from '@batonjs/store/files';
import { prefixOfTask } from '../../packages/server/src/turns/files/server-files.ts';
import { contentOf, fileNames, GONE } from './contents.ts';

/** The name of a file that a log has, with its size and hash. */
const named =
  /"url":"baton-file:[^/"]+\/([^"]+)","metadata":\{"[^"]+":\{"size":(\d+),"sha256":"([\da-f]+)"\}\}/g;

/** All facts of all tasks. */
async function* logsOf({ transfer }: TaskStore) {
  let from: string | undefined;
  do {
    const page = await transfer!.tasks(from, 100);
    for (const row of page.rows)
      yield { row, log: JSON.stringify(await transfer!.facts(row, 0, row.version)) };
    from = page.next;
  } while (from !== undefined);
}

/**
 * Reads all files and the store as they lie there, and says what is wrong: logs that name a file which is not there or has
 * other bytes, files that no task has, rounds whose files are not those that were sent and made, and what was erased.
 */
export async function audit(
  store: TaskStore,
  files: FileStore,
  rounds: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  const tasks = new Set<string>();
  const hashes = new Map<string, number>();
  let logs = '';
  for await (const { row, log } of logsOf(store)) {
    logs += log;
    const prefix = prefixOfTask('files', row.scope, row.taskId);
    tasks.add(prefix);
    // The log of a fork has the names that the first one has: they are its own files all the same.
    for (const [, id, size, sha256] of log.matchAll(named)) {
      const bytes = await bytesOf(files, prefix + id);
      if (!bytes) faults.push(`the file ${id} of ${row.taskId} is missing`);
      else if (bytes.length !== Number(size) || hashOf(bytes) !== sha256)
        faults.push(`the file ${id} of ${row.taskId} has other bytes`);
      hashes.set(sha256!, (hashes.get(sha256!) ?? 0) + 1);
    }
  }
  for await (const { key } of files.list('')) {
    const isOfTask = [...tasks].some((prefix) => key.startsWith(prefix));
    const isUpload = /^uploads\/|\/uploads\/|\/mark\//.test(key);
    if (!isOfTask && !isUpload) faults.push(`${key} belongs to no task`);
    const text = (await bytesOf(files, key))?.subarray(0, 100).toString('latin1');
    if (text?.includes(`/${GONE} `)) faults.push(`${key} was erased`);
  }
  for (const round of rounds) {
    if (logs.includes(`"text":"${round}"`)) faults.push(`the text of ${round} was erased`);
    // The task and its fork.
    for (const file of fileNames)
      if ((hashes.get(hashOf(contentOf(`${round}/${file}`))) ?? 0) < 2)
        faults.push(`${round} has no file "${file}"`);
  }
  return faults;
}

async function bytesOf(files: FileStore, key: string): Promise<Buffer | undefined> {
  const found = await files.get(key);
  if (!found) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of found) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
