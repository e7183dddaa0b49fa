/** A store of Baton's without a server around it, given the commits of blocking sends. */
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { commitsOfTasks, sampleCommits, textsOf } from '../sample-commits.ts';
import { type StoreChoice, storeOf } from '../stores.ts';

let groups: number[] = [];
const store = storeOf(given<StoreChoice>(), (size) => void groups.push(size));

const questions = {
  ...vitals,
  texts: async () => textsOf(await sampleCommits('quote')),
  /** Commits what so many sends commit, of some tasks at a time. Resolves to milliseconds, the process's CPU time in microseconds, and the sizes of groups. */
  async sends({ requests, tasks }: { requests: number; tasks: number }) {
    const all = commitsOfTasks(await sampleCommits('quote'), requests);
    groups = [];
    const cpuBefore = vitals.cpu();
    const start = performance.now();
    await Promise.all(
      Array.from({ length: tasks }, async () => {
        for (let commits = all.pop(); commits; commits = all.pop())
          for (const commit of commits) await store.commit(commit);
      }),
    );
    return { ms: performance.now() - start, cpu: vitals.cpu() - cpuBefore, groups };
  },
};
export type BatonStore = typeof questions;
answer(questions);
