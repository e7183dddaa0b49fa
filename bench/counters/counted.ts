/** Baton in a process that counts what its work takes instead of timing it. Answers `count` for one kind of work. */
import { createHook } from 'node:async_hooks';
import { Session } from 'node:inspector/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { type StoreChoice, storeOf, type TaskStore } from '../contenders/stores.ts';
import { answer, given } from '../harness/worker.ts';
import { countedServer } from './counted-server.ts';
import type { Counts, Work } from './counts.ts';

declare const gc: (options: { readonly type: 'minor' | 'major' }) => void;

const calls = { commits: 0, serialised: 0, parsed: 0 };
const ask = countedServer(countingCommits(storeOf(given<StoreChoice>())));
for (const [name, count] of [
  ['stringify', 'serialised'],
  ['parse', 'parsed'],
] as const) {
  const original = JSON[name] as (...args: unknown[]) => unknown;
  Object.assign(JSON, {
    [name]: (...args: unknown[]) => {
      calls[count]++;
      return original(...args);
    },
  });
}

function countingCommits(store: TaskStore): TaskStore {
  return {
    ...store,
    commit(commit) {
      calls.commits++;
      return store.commit(commit);
    },
  };
}

const works: Readonly<Record<Work, (times: number) => Promise<void>>> = {
  async send(times) {
    for (let n = 0; n < times; n++) await ask('quote', false);
  },
  event: (times) => ask(`chunks ${times}`, true),
  step: (times) => ask(`steps ${times}`, false),
};

/** What one more of a kind takes: the difference of much and little of it. */
async function perUnit(work: Work, count: (act: () => Promise<void>) => Promise<number>): Promise<number> {
  const [few, many] = [50, 150];
  const least = await count(() => works[work](few));
  return ((await count(() => works[work](many))) - least) / (many - few);
}

async function allocated(act: () => Promise<void>): Promise<number> {
  gc({ type: 'major' });
  const before = process.memoryUsage().heapUsed;
  await act();
  return process.memoryUsage().heapUsed - before;
}

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;

async function survived(act: () => Promise<void>): Promise<number> {
  gc({ type: 'major' });
  const before = oldBytes();
  await act();
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  return oldBytes() - before;
}

async function promises(act: () => Promise<void>): Promise<number> {
  let made = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') made++;
    },
  }).enable();
  await act();
  hook.disable();
  return made;
}

/** The calls of functions in the files that `isCounted` takes. */
const entered = (isCounted: (url: string, name: string) => boolean) => async (act: () => Promise<void>) => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await act();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .flatMap(({ url, functions }) => functions.filter(({ functionName }) => isCounted(url, functionName)))
    .reduce((sum, { ranges }) => sum + ranges[0]!.count, 0);
};

const own = entered((url) => /\/packages\/[^/]+\/dist\//.test(url));
/** A schema of zod calls one for each object, array and union that it reads. */
const schemas = entered((_url, name) => name === 'inst._zod.parse');

const called = (name: keyof typeof calls) => async (act: () => Promise<void>) => {
  const before = calls[name];
  await act();
  return calls[name] - before;
};

export const counted = {
  async count(work: Work): Promise<Counts> {
    // What is compiled, cached and opened once is no part of it.
    await works[work](300);
    return {
      'bytes allocated': await perUnit(work, allocated),
      'bytes that outlive two young collections': await perUnit(work, survived),
      promises: await perUnit(work, promises),
      'functions entered': await perUnit(work, own),
      'values read by a schema': await perUnit(work, schemas),
      'texts of JSON made': await perUnit(work, called('serialised')),
      'texts of JSON read': await perUnit(work, called('parsed')),
      commits: await perUnit(work, called('commits')),
    };
  },
};

answer(counted);
