import type { Sample } from '../contenders/template.ts';
import type { Contender } from './benchmark.ts';
import { startBaton, startLoad } from './contender.ts';
import type { Values } from './measure.ts';
import type { Vitals } from './vitals.ts';
import type { Worker } from './worker.ts';

export const perSecond = 'req/s';
export const cpuPerRequest = 'µs CPU per request';
/** Of the server and of its database together. */
export const cpuWithDatabase = 'µs CPU per request, with the database';

/** What answers `quote`. */
type Sending = Pick<Worker<Vitals & { url(): string }>, 'ask' | 'stop'>;

export interface SendsOptions {
  readonly connections: number;
  readonly requests: number;
  /** So many before them are not measured. */
  readonly warmUp: number;
  /** The CPU time that the server's database has used so far, in microseconds. */
  readonly databaseCpu?: () => number;
}

/** Measures a server that was just started, then warmed up, under blocking sends, and stops it. Every answer is checked. */
export async function measureSends(
  contender: Contender,
  server: Sending,
  { connections, requests, warmUp, databaseCpu }: SendsOptions,
  values: Values,
  afterwards: () => Promise<void> = async () => {},
): Promise<void> {
  const load = await startLoad();
  const url = await server.ask('url');
  await load.ask('sends', { url, connections, requests: warmUp });
  const before = await server.ask('cpu');
  const databaseBefore = databaseCpu?.() ?? 0;
  const ms = await load.ask('sends', { url, connections, requests });
  values.add(contender, perSecond, (requests / ms) * 1_000);
  const cpu = (await server.ask('cpu')) - before;
  values.add(contender, cpuPerRequest, cpu / requests);
  if (databaseCpu) values.add(contender, cpuWithDatabase, (cpu + databaseCpu() - databaseBefore) / requests);
  await afterwards();
  await Promise.all([load.stop(), server.stop()]);
}

/** An answer of Baton's, for floors to repeat. */
export async function sampleOfBaton(): Promise<Sample> {
  const [load, baton] = await Promise.all([startLoad(), startBaton({ store: 'memory', http: 'express' })]);
  const sample = await load.ask('sampleOf', { url: await baton.ask('url') });
  await Promise.all([load.stop(), baton.stop()]);
  return sample;
}

/** How many commits the groups held. */
export const sum = (sizes: readonly number[]): number => sizes.reduce((all, one) => all + one, 0);

/** The groups after those that held the first so many commits. */
export function afterFirst(sizes: readonly number[], commits: number): readonly number[] {
  let held = 0;
  let first = 0;
  while (held < commits) held += sizes[first++]!;
  return sizes.slice(first);
}
