/**
 * `pnpm record:logs 0.2.0`: writes logs of a release to `packages/lifecycle/test/fixtures`, where later releases read them for
 * ever: some of random sequences of commands, of a run of `fuzz` and of a run of `chaos`. Of each of them those that have
 * kinds of facts, or an end, that no log before them has.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fact, type Head, headOf, replay, type Snapshot, toSnapshot } from '@batonjs/lifecycle';
import fc from 'fast-check';
import { randomLog } from '../packages/lifecycle/test/random-log.ts';
import { meaningOf, type RecordedLog } from '../packages/lifecycle/test/recorded-log.ts';
import type { KeptLog } from '../test/histories/history.ts';
import { chaos } from './chaos/chaos.ts';
import { readOptions } from './chaos/options.ts';
import { fuzz } from './fuzz/fuzz.ts';

interface Log {
  readonly facts: readonly Fact[];
  readonly snapshot?: Snapshot | undefined;
}

/** How many logs of each source, and how many bytes each has at most. */
const most = 8;
const longest = 24_000;

const [release] = process.argv.slice(2);
if (!release || !/^\d+\.\d+\.\d+$/.test(release))
  throw new TypeError('Name the release: pnpm record:logs 0.2.0');
const folder = new URL(`../packages/lifecycle/test/fixtures/${release}/`, import.meta.url);
await mkdir(folder, { recursive: true });

const factsOf = ({ facts, snapshot }: KeptLog): Log => ({ facts: facts.map(({ fact }) => fact), snapshot });

const sources: Readonly<Record<string, () => Promise<readonly Log[]>>> = {
  random: async () =>
    fc.sample(randomLog, { numRuns: 200, seed: 1 }).flatMap((moments) => moments.at(-1) ?? []),
  async fuzz() {
    const kept = await mkdtemp(join(tmpdir(), 'baton-logs-'));
    process.env.FUZZ_LOGS = join(kept, 'logs.json');
    await fuzz({ binding: 'JSONRPC', store: 'sqlite', seed: '1', from: 0, requests: 300 });
    const logs: KeptLog[] = JSON.parse(await readFile(process.env.FUZZ_LOGS, 'utf8'));
    await rm(kept, { recursive: true });
    return logs.map(factsOf);
  },
  async chaos() {
    const options = readOptions(['--store', 'sqlite-normal', '--kills', '5']);
    return (await chaos({ ...options, chunks: 40 })).logs.map(factsOf);
  },
};

for (const [source, record] of Object.entries(sources)) {
  const logs = (await record()).map(recorded).filter((log) => JSON.stringify(log).length < longest);
  const seen = new Set<string>();
  const isNew = ({ facts, snapshot, head }: RecordedLog) => {
    const size = seen.size;
    for (const { type } of facts) seen.add(type);
    seen.add(`ends as ${head.state}`);
    if (snapshot.version >= 64) seen.add('a stored snapshot');
    return seen.size > size;
  };
  for (const [n, log] of [...logs]
    .sort((a, b) => b.facts.length - a.facts.length)
    .filter(isNew)
    .slice(0, most)
    .entries())
    await writeFile(new URL(`${source}-${n + 1}.json`, folder), `${JSON.stringify(log)}\n`);
  console.log(`${source}: ${[...seen].sort().join(', ')}`);
}
process.exit();

function recorded({ facts, snapshot }: Log): RecordedLog {
  const state = replay(facts);
  const middle = replay(facts.slice(0, Math.ceil(facts.length / 2)));
  const head = facts.reduce<Head | undefined>(headOf, undefined);
  if (!state || !middle || !head) throw new TypeError('A log has facts');
  return { facts, head, snapshot: snapshot ?? toSnapshot(middle), ...meaningOf(state) };
}
