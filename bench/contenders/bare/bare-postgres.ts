/**
 * The floor under PostgreSQL: transactions of given sizes, replayed one after another over one connection, and nothing
 * around them. A transaction locks its tasks and checks their versions, writes them with their heads, and adds their
 * facts and the keys of their messages, each in one statement: the four commits of a blocking send in turn, of as many
 * tasks at a time as there were connections. The rows are those that Baton writes, with the columns that hold content:
 * without those, and the indexes, that tasks are listed, claimed and pruned by.
 */
import pg from 'pg';
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

const { postgres, commits } = given<{ postgres: string; commits: CommitTexts }>();
const client = new pg.Client(postgres);
await client.connect();
await client.query(`
  CREATE TABLE bare_tasks (task_id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, head text NOT NULL);
  CREATE TABLE bare_facts (
    task_id text COLLATE "C" NOT NULL, version bigint NOT NULL, commit_id text NOT NULL, fact text NOT NULL,
    PRIMARY KEY (task_id, version)
  );
  CREATE TABLE bare_once (
    task_id text COLLATE "C" NOT NULL, once text COLLATE "C" NOT NULL, PRIMARY KEY (task_id, once)
  );
`);
const lock =
  'SELECT task_id, version FROM bare_tasks WHERE task_id = ANY($1::text[]) ORDER BY task_id FOR UPDATE';
const put = `INSERT INTO bare_tasks SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
  ON CONFLICT (task_id) DO UPDATE SET version = excluded.version, head = excluded.head`;
const add = 'INSERT INTO bare_facts SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])';
const addOnce = 'INSERT INTO bare_once SELECT * FROM unnest($1::text[], $2::text[])';

/** The length of the log before each commit. */
const versions = commits.map((_, n) => commits.slice(0, n).reduce((sum, { facts }) => sum + facts.length, 0));

interface Writing {
  readonly taskId: string;
  next: number;
}

const newTask = (): Writing => ({ taskId: growingId(), next: 0 });

async function write(group: readonly Writing[]): Promise<void> {
  await client.query('BEGIN');
  const ids = [...new Set(group.map(({ taskId }) => taskId))];
  const { rows } = await client.query(lock, [ids]);
  const known = new Map<string, number>(rows.map((row) => [row.task_id, Number(row.version)]));
  const heads = new Map<string, string>();
  const facts: [task: string, version: number, commitId: string, fact: string][] = [];
  const begun: string[] = [];
  for (const task of group) {
    const commit = commits[task.next]!;
    let version = known.get(task.taskId) ?? 0;
    if (version !== versions[task.next]) throw new Error('A version conflict');
    const commitId = `${task.taskId}-${task.next}`;
    for (const fact of commit.facts) facts.push([task.taskId, ++version, commitId, fact]);
    if (task.next === 0) begun.push(task.taskId);
    known.set(task.taskId, version);
    heads.set(task.taskId, commit.head);
    task.next++;
  }
  await client.query(put, [ids, ids.map((id) => known.get(id)), ids.map((id) => heads.get(id))]);
  await client.query(
    add,
    [0, 1, 2, 3].map((column) => facts.map((fact) => fact[column])),
  );
  if (begun.length > 0) await client.query(addOnce, [begun, begun.map((id) => `message:${id}`)]);
  await client.query('COMMIT');
}

const questions = {
  ...vitals,
  /** Resolves to milliseconds, and the process's CPU time in microseconds. */
  async replay({ groups, tasks }: Replay) {
    const writing = Array.from({ length: tasks }, newTask);
    let at = 0;
    const cpuBefore = vitals.cpu();
    const start = performance.now();
    for (const size of groups) {
      const group: Writing[] = [];
      for (let n = 0; n < size; n++) {
        group.push(writing[at]!);
        at = (at + 1) % tasks;
      }
      await write(group);
      for (const [n, task] of writing.entries()) if (task.next === commits.length) writing[n] = newTask();
    }
    return { ms: performance.now() - start, cpu: vitals.cpu() - cpuBefore };
  },
};
export type BarePostgres = typeof questions;
answer(questions);
