import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { TaskStore } from '@batonjs/store';
import type { StoredTask } from '@batonjs/store/rules';
import { CliError, usage } from '../../errors/cli-error.ts';
import { type Counts, format, LineWriter, longestLine, readLines } from './lines.ts';
import { factsOf, type KeyedFact, pagesOf, recordsOf, transferOf } from './read-store.ts';

export interface ExportOptions {
  /** Only tasks and records of these scopes. */
  readonly callers?: readonly string[] | undefined;
  readonly withoutSecrets?: boolean | undefined;
  /** Goes on with a file that an export has begun. */
  readonly resume?: boolean | undefined;
  readonly onProgress?: (counts: Counts) => void;
}

type Draft = { -readonly [Name in keyof Counts]: Counts[Name] };

/** Writes all of a store into a new file, readable by this user only. */
export async function exportStore(
  store: TaskStore,
  path: string,
  { callers, withoutSecrets, resume, onProgress }: ExportOptions = {},
): Promise<Counts> {
  if (existsSync(path) && !resume) throw usage(`${path} is there already`, 'Give another name, or --resume');
  const transfer = transferOf(store);
  const begun = resume ? await begunExport(path) : undefined;
  const file = openSync(path, begun ? 'r+' : 'wx', 0o600);
  try {
    if (begun) ftruncateSync(file, begun.end);
    let at = fstatSync(file).size;
    const writer = new LineWriter(begun?.sum);
    const write = (line: Parameters<LineWriter['text']>[0]) => {
      at += writeSync(file, writer.text(line), at);
    };
    const counts: Draft = { ...(begun?.counts ?? { tasks: 0, facts: 0, records: 0 }) };
    const isWanted = ({ scope = '' }: { readonly scope?: string | undefined }) =>
      callers?.includes(scope) ?? true;
    if (!begun) {
      const from = `${store.system ?? 'a store'} ${await store.identity()}`;
      write({ store: { format, from, at: new Date().toISOString(), callers, withoutSecrets } });
    }
    for await (const { rows, next } of begun?.page === null ? [] : pagesOf(transfer, begun?.page)) {
      for (const row of rows.filter(isWanted)) {
        const task = await transfer.read(row);
        if (!task) continue;
        const [before, { sum }] = [at, writer];
        let left = task.row.version;
        write({ task: lined(withoutSecrets ? openTask(task) : task) });
        for await (const facts of factsOf(transfer, task)) {
          write({ facts: withoutSecrets ? facts.map(openFact) : facts });
          left -= facts.length;
        }
        if (left > 0) {
          // Deleted meanwhile.
          [at, writer.sum] = [before, sum];
          ftruncateSync(file, at);
          continue;
        }
        counts.tasks++;
        counts.facts += task.row.version;
      }
      write({ page: next ?? null });
      onProgress?.(counts);
    }
    for await (const record of recordsOf(transfer)) {
      if (!isWanted(record) || (withoutSecrets && record.name === 'callback-keys')) continue;
      write({ record });
      counts.records++;
    }
    write({ end: { tasks: counts.tasks, facts: counts.facts, records: counts.records } });
    return counts;
  } finally {
    closeSync(file);
  }
}

/** A snapshot only saves folding: one that is too long for a line is left out. */
function lined({ snapshot, ...task }: StoredTask): StoredTask {
  const isShort = snapshot !== undefined && JSON.stringify(snapshot).length < longestLine / 4;
  return isShort ? { ...task, snapshot } : task;
}

/** Without the snapshot, which holds memory, and without what webhooks authenticate with. */
const openTask = ({ snapshot: _, webhooks, ...task }: StoredTask): StoredTask => ({
  ...task,
  webhooks: webhooks.map(({ config: { token: _token, authentication, ...config }, ...webhook }) => ({
    ...webhook,
    config: { ...config, ...(authentication && { authentication: { scheme: authentication.scheme } }) },
  })),
});

const openFact = (stored: KeyedFact): KeyedFact =>
  stored.fact.type === 'memory-changed' ? { ...stored, fact: { ...stored.fact, changes: {} } } : stored;

/** How far a file is that an export has begun: up to its last whole page. */
async function begunExport(path: string) {
  let begun: { end: number; sum: string; counts: Counts; page: string | undefined | null } | undefined;
  const counts: Draft = { tasks: 0, facts: 0, records: 0 };
  let isComplete = false;
  try {
    for await (const { line, end, sum } of readLines(path)) {
      if ('end' in line) isComplete = true;
      if ('task' in line) counts.tasks++;
      if ('facts' in line) counts.facts += line.facts.length;
      if ('store' in line) begun = { end, sum, counts: { ...counts }, page: undefined };
      if ('page' in line) begun = { end, sum, counts: { ...counts }, page: line.page };
    }
  } catch (error) {
    // The last line was not written to its end.
    if (!begun || !(error instanceof CliError)) throw error;
  }
  if (isComplete) throw usage(`${path} is complete`);
  return begun;
}
