/**
 * The floor under etcd: one transaction per commit that compares a revision and puts the head and the facts, through the
 * same client as Baton, and nothing around it. Facts and heads are those of Baton.
 */
import { Cluster } from '../../../packages/store-etcd/src/cluster/cluster.ts';
import { connectionsTo } from '../../../packages/store-etcd/src/cluster/connections.ts';
import { inTurn } from '../../harness/in-turn.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import type { CommitTexts } from '../sample-commits.ts';

const { etcd, commits } = given<{ etcd: readonly string[]; commits: CommitTexts }>();
const cluster = new Cluster(connectionsTo(etcd, undefined), 10_000);

async function append(task: string, n: number, modRevision: number): Promise<number> {
  const { head, facts } = commits[n]!;
  const key = `task/${task}`;
  const { succeeded, header } = await cluster.transact({
    compare: [{ result: 0, target: 2, key, modRevision }],
    success: [
      { put: { key, value: head } },
      { put: { key: `fact/${task}/${n}`, value: `[${facts.join(',')}]` } },
    ],
  });
  if (!succeeded) throw new Error('A version conflict');
  return header.revision;
}

const questions = {
  ...vitals,
  /** Writes the commits of so many sends, of some tasks at a time. Resolves to milliseconds. */
  sends: ({ requests, tasks }: { requests: number; tasks: number }): Promise<number> =>
    inTurn(requests, tasks, async () => {
      const task = crypto.randomUUID();
      let revision = 0;
      for (let n = 0; n < commits.length; n++) revision = await append(task, n, revision);
    }),
};
export type BareEtcd = typeof questions;
answer(questions);
