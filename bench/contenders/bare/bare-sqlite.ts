/**
 * The floor under SQLite: transactions of given sizes, replayed one after another, and nothing around them. A commit checks
 * the version of a task, writes it with its head, and adds its facts: the four commits of a blocking send in turn, of as
 * many tasks at a time as there were connections. `listable`: with the one index that a list of tasks needs.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { growingId } from '../growing-id.ts';
import type { CommitTexts } from '../sample-commits.ts';

interface Replay {
  /** How many commits each transaction holds. */
  readonly groups: readonly number[];
  /** How many tasks are written at a time. */
  readonly tasks: number;
}

const { folder, listable, commits } = given<{ folder: string; listable: boolean; commits: CommitTexts }>();
const db = new DatabaseSync(join(folder, 'bare.db'));
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
db.exec(`
  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, task_id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, head TEXT NOT NULL,
    state TEXT NOT NULL, status_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE facts (
    task INTEGER NOT NULL, version INTEGER NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (task, version)
  ) STRICT, WITHOUT ROWID;
  ${listable ? 'CREATE INDEX tasks_by_status ON tasks (state, status_at, task_id);' : ''}
`);
const begin = db.prepare('BEGIN IMMEDIATE');
const commit = db.prepare('COMMIT');
const insertTask = db.prepare(
  'INSERT INTO tasks (task_id, version, head, state, status_at) VALUES (?, ?, ?, ?, ?)',
);
const find = db.prepare('SELECT id, version FROM tasks WHERE task_id = ?');
const update = db.prepare('UPDATE tasks SET version = ?, head = ?, state = ?, status_at = ? WHERE id = ?');
const insertFact = db.prepare('INSERT INTO facts VALUES (?, ?, ?)');

/** The length of the log before each commit. */
const versions = commits.map((_, n) => commits.slice(0, n).reduce((sum, { facts }) => sum + facts.length, 0));

interface Writing {
  readonly taskId: string;
  next: number;
}

const begun = (): Writing => ({ taskId: growingId(), next: 0 });

function write(task: Writing): void {
  const { facts, head } = commits[task.next]!;
  const found = find.get(task.taskId) as { id: number; version: number } | undefined;
  let version = found?.version ?? 0;
  if (version !== versions[task.next]) throw new Error('A version conflict');
  const state = `STATE_${task.next}`;
  const now = Date.now();
  const length = version + facts.length;
  let id = found?.id;
  if (id === undefined) id = Number(insertTask.run(task.taskId, length, head, state, now).lastInsertRowid);
  else update.run(length, head, state, now, id);
  for (const fact of facts) insertFact.run(id, ++version, fact);
  task.next++;
}

/** Resolves to milliseconds. */
function replay({ groups, tasks }: Replay): number {
  const writing = Array.from({ length: tasks }, begun);
  let at = 0;
  const start = performance.now();
  for (const size of groups) {
    begin.run();
    for (let n = 0; n < size; n++) {
      const task = writing[at]!;
      write(task);
      if (task.next === commits.length) writing[at] = begun();
      at = (at + 1) % tasks;
    }
    commit.run();
  }
  return performance.now() - start;
}

const questions = { ...vitals, replay };
export type BareSqlite = typeof questions;
answer(questions);
