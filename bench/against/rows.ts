import type { Baton, BatonOptions } from '../contenders/baton/baton.ts';
import { startLoad } from '../harness/contender.ts';
import type { Store } from '../harness/places.ts';
import type { Worker } from '../harness/worker.ts';

/** Asks a warm server for work. Resolves to how many operations that were. */
type Work = (server: Worker<Baton>, count: number) => Promise<number>;

/** What a benchmark of the same number does, as far as one server does it alone. */
export interface Row {
  readonly number: number;
  readonly work: string;
  /** What the CPU time is divided by. */
  readonly operation: string;
  readonly store: Store;
  readonly http: BatonOptions['http'];
  readonly warmUp: number;
  readonly count: number;
  readonly ask: Work;
}

const sends =
  (connections: number): Work =>
  async (server, requests) => {
    const load = await startLoad();
    await load.ask('sends', { url: await server.ask('url'), connections, requests });
    await load.stop();
    return requests;
  };

const chunks: Work = async (server, count) => {
  const load = await startLoad();
  await load.ask('chunks', { url: await server.ask('url'), count, mode: 'streaming' });
  await load.stop();
  return count;
};

/** One follower sees each update that the agent yields every millisecond. */
const ticks: Work = async (server, count) => {
  const load = await startLoad();
  const url = await server.ask('url');
  const taskId = await load.ask('begin', { url, text: `ticks ${count} 1` });
  await load.ask('follow', { url, taskId, followers: 1, count });
  await Promise.all([load.ask('followed'), server.ask('start')]);
  await load.stop();
  return count;
};

const express = 'express';
const send = 'blocking send';

/** The benchmarks that every change is compared by. */
export const rows: readonly Row[] = [
  row(1, 'memory, Express', send, 'memory', express, sends(16), 20_000),
  row(2, 'memory, node:http', send, 'memory', 'node:http', sends(16), 20_000),
  row(3, 'SQLite, Express', send, 'sqlite', express, sends(64), 10_000),
  row(4, 'Redis, Express', send, 'redis', express, sends(64), 8_000),
  row(5, 'memory, streamed chunks', 'chunk', 'memory', express, chunks, 8_000),
  row(7, 'memory, one follower', 'update', 'memory', express, ticks, 3_000),
  row(13, 'PostgreSQL, Express', send, 'postgres', express, sends(64), 5_000),
];

function row(
  number: number,
  work: string,
  operation: string,
  store: Store,
  http: Row['http'],
  ask: Work,
  count: number,
): Row {
  return { number, work, operation, store, http, ask, count, warmUp: count };
}
