import type { Explanation } from './explanation.ts';

const source = 'packages/store-etcd/src';

export const explanationsOfStoreEtcd: readonly Explanation[] = [
  {
    file: `${source}/rows/changes.ts`,
    line: 'const isTooLarge = this.#compares(decided, tasksOf(decision, look)).length > mostCompares;',
    why: 'Only which claims are decided again with fewer tasks, by one comparison.',
  },
  {
    file: `${source}/rows/changes.ts`,
    line: 'const isNew = tasks.some(({ row }) => !row);',
    replacements: ['row'],
    why: 'A guess more is tried, which etcd refuses, or one less: slower, but the same.',
  },
  {
    file: `${source}/rows/changes.ts`,
    line: 'if (change.partly && change.tasks?.length !== tasks.length) return undefined;',
    replacements: ['true'],
    why: 'No guess is used: slower, but the same.',
  },
  {
    file: `${source}/layout/cluster-clock.ts`,
    line: /^if \((performance\.now\(\) - this\.#readAt < tickMs\) return|kept\) this\.#readAt)/,
    why: 'Only how often the clock is read.',
  },
  {
    file: `${source}/rows/writing.ts`,
    line: 'else if (wasLarge) this.#delete(keys.config(task, id));',
    why: 'The same: a key that is not there is deleted.',
  },
  {
    file: `${source}/rows/writing.ts`,
    line: 'else if (webhooks.length > 0) after = this.#addWebhooks(task, before, webhooks);',
    why: 'The same: no webhooks are added.',
  },
  {
    file: `${source}/logs/parts.ts`,
    line: 'if (parts.length < names.length) parts = await read(modRevision);',
    replacements: ['parts.length <= names.length'],
    why: 'The parts are read once more: slower, but the same.',
  },
  {
    file: `${source}/rows/look.ts`,
    line: 'hasMissed = false;',
    why: 'A search is made again: slower, but the same.',
  },
  {
    file: `${source}/rows/changes.ts`,
    line: 'if (succeeded) for (const [task, known] of tasks) this.#known.set(task, writtenAt(known, revision));',
    replacements: ['true'],
    why: 'What is remembered may be wrong: etcd refuses the next guess, and the change is decided again.',
  },
  {
    file: `${source}/rows/changes.ts`,
    line: 'const change = decide({ ...(await this.#options.reader.moment(wanted)), tasks });',
    why: 'No guess is used: slower, but the same.',
  },
  {
    file: `${source}/logs/logs.ts`,
    line: 'const isWhole = !snapshot && row.version <= withRow;',
    replacements: ['true'],
    why: 'What is read beyond these facts is left out: slower, but the same.',
  },
  {
    file: `${source}/logs/logs.ts`,
    line: 'range ??= (await db.cluster.read([commitsAfter(db.keys, task, position, last - position)]))[0];',
    replacements: ['last + position'],
    why: 'What is read beyond these facts is left out: slower, but the same.',
  },
  {
    file: `${source}/logs/task-list.ts`,
    line: 'return taskId !== undefined && head ? [{ task, taskId, head }] : [];',
    why: 'The same: no list has a task that has no row at its revision.',
  },
  {
    file: `${source}/rows/writing.ts`,
    line: 'if (write) this.writes.push(...movesOfTask(keys, task, known.row, row, notified));',
    replacements: ['true'],
    why: 'The place of a task is put again, as it is: processes look once more.',
  },
  {
    file: `${source}/rows/writing.ts`,
    line: 'readonly deleted: string[] = [];',
    why: 'The same: a key that no change writes is read, too, and is not there.',
  },
  {
    file: `${source}/buckets/bucket-sweep.ts`,
    line: 'if (this.#next < slices) continue;',
    replacements: ['this.#next <= slices'],
    why: 'One round more, which reads nothing: slower, but the same.',
  },
  {
    file: `${source}/layout/indexes.ts`,
    line: "value: '',",
    why: 'The same: only the key is read.',
  },
];
