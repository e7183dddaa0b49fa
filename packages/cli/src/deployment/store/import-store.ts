import type { TaskStore } from '@batonjs/store';
import type { StoredTask, Transfer } from '@batonjs/store/rules';
import { usage } from '../../errors/cli-error.ts';
import { Concurrent } from './concurrent.ts';
import { type Counts, wholeFile } from './lines.ts';
import { type KeyedFact, transferOf } from './read-store.ts';

/** How many facts of a task are kept before they are written. */
const mostKept = 2_000;

/** Reads a whole file, and refuses one that is damaged. Resolves to what it has. */
export async function checkFile(path: string): Promise<Counts> {
  let counts: Counts = { tasks: 0, facts: 0, records: 0 };
  for await (const line of wholeFile(path)) if ('end' in line) counts = line.end;
  return counts;
}

/** Puts all of a file, which was checked, into an empty store. */
export async function importStore(
  store: TaskStore,
  path: string,
  onProgress?: (tasks: number) => void,
): Promise<void> {
  const transfer = transferOf(store);
  await mustBeEmpty(transfer);
  const writes = new Concurrent();
  let tasks = 0;
  let current: { readonly task: StoredTask; facts: KeyedFact[] } | undefined;
  for await (const line of wholeFile(path)) {
    if ('facts' in line && current) {
      current.facts.push(...line.facts);
      if (current.facts.length < mostKept) continue;
      await transfer.append(current.task.row, current.facts);
      current.facts = [];
      continue;
    }
    if (current) {
      const { task, facts } = current;
      await writes.run(async () => {
        await transfer.append(task.row, facts);
        await transfer.put(task);
        onProgress?.(++tasks);
      });
    }
    current = 'task' in line ? { task: line.task, facts: [] } : undefined;
    if ('record' in line) await writes.run(() => transfer.putRecord(line.record));
  }
  await writes.end();
}

export async function mustBeEmpty({ tasks, records }: Transfer): Promise<void> {
  let page = await tasks(undefined, 1);
  while (page.rows.length === 0 && page.next !== undefined) page = await tasks(page.next, 100);
  if (page.rows.length > 0 || (await records(undefined, 1)).length > 0)
    throw usage('The store is not empty', 'Nothing was written: give a store that no process has used');
}
