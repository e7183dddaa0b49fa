/**
 * The floor under Redis: one script per commit that checks a version and appends, through the same client as Baton, and
 * nothing around it. Facts and heads are those of Baton.
 */
import { createHash } from 'node:crypto';
import { createClient } from 'redis';
import { inTurn } from '../../harness/in-turn.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import type { CommitTexts } from '../sample-commits.ts';

const source = `local version = tonumber(redis.call('HGET', KEYS[1], 'version') or 0)
if version ~= tonumber(ARGV[1]) then return -1 end
for n = 3, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[n]) end
version = version + #ARGV - 2
redis.call('HSET', KEYS[1], 'version', version, 'head', ARGV[2])
return version`;
const sha = createHash('sha1').update(source).digest('hex');

const { redis, commits } = given<{ redis: string; commits: CommitTexts }>();
const client = createClient({ url: redis });
await client.connect();
await client.sendCommand(['SCRIPT', 'LOAD', source]);

async function append(task: string, version: number, { head, facts }: CommitTexts[number]): Promise<number> {
  const args = [String(version), head, ...facts];
  const reply: unknown = await client.sendCommand([
    'EVALSHA',
    sha,
    '2',
    `task:${task}`,
    `log:${task}`,
    ...args,
  ]);
  if (reply !== version + facts.length) throw new Error(`A version conflict: ${reply}`);
  return version + facts.length;
}

const questions = {
  ...vitals,
  /** Writes the four commits of so many sends, of some tasks at a time. Resolves to milliseconds. */
  sends: ({ requests, tasks }: { requests: number; tasks: number }): Promise<number> =>
    inTurn(requests, tasks, async () => {
      const task = crypto.randomUUID();
      let version = 0;
      for (const commit of commits) version = await append(task, version, commit);
    }),
  /** Appends the last commit but one, a chunk, again and again to one task. Resolves to milliseconds. */
  async chunks(count: number): Promise<number> {
    const task = crypto.randomUUID();
    const chunk = commits.at(-2)!;
    const start = performance.now();
    for (let version = 0; version < count; ) version = await append(task, version, chunk);
    return performance.now() - start;
  },
};
export type BareRedis = typeof questions;
answer(questions);
