import { createHash } from 'node:crypto';
import { mapParts, ownerOf, prefixOfTask, storedIn } from '@batonjs/server/internals';
import { folderFiles } from '@batonjs/server-node';
import type { StoredFact } from '@batonjs/store';
import { plainQueue, type StoredTask } from '@batonjs/store/rules';

/** Copies the files of one folder that another one lacks, of some scopes or of all. Resolves to how many. */
export async function copyFiles(from: string, to: string, scopes?: readonly string[]): Promise<number> {
  const [source, target] = [folderFiles(from), folderFiles(to)];
  const there = new Set<string>();
  for await (const { key } of target.list('')) there.add(key);
  let copied = 0;
  for await (const { key } of source.list('')) {
    if (there.has(key) || (scopes && !scopes.includes(`${ownerOf(key)?.scope}`))) continue;
    const bytes = await source.get(key);
    // Otherwise it was deleted meanwhile.
    if (bytes) await target.put(key, bytes);
    if (bytes) copied++;
  }
  return copied;
}

/** How the files are damaged that a log names; undefined if they are not. Reads all of them. */
export async function damageOfFiles(
  folder: string,
  { queue = '', scope, taskId }: StoredTask['row'],
  facts: readonly StoredFact[],
): Promise<string | undefined> {
  const named = new Map<string, string>();
  for (const { fact } of facts)
    mapParts(fact, (part) => {
      const { id, sha256 } = storedIn(part) ?? {};
      if (id !== undefined) named.set(id, `${sha256}`);
      return part;
    });
  for (const [id, sha256] of named) {
    const bytes = await folderFiles(folder).get(prefixOfTask(plainQueue(queue), scope, taskId) + id);
    if (!bytes) return `its file ${id} is missing`;
    const hash = createHash('sha256');
    for await (const chunk of bytes) hash.update(chunk);
    if (hash.digest('hex') !== sha256) return `its file ${id} has other bytes`;
  }
  return undefined;
}
