import type { BareRedis } from './contenders/bare/bare-redis.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { commitsOfBaton, type Redis, startBaton, startBatonStore, withRedis } from './harness/contender.ts';
import { alternate, round, Values } from './harness/measure.ts';
import { measureSends, perSecond } from './harness/measure-sends.ts';
import { Worker } from './harness/worker.ts';

/**
 * The first benchmark on Redis. The floor is not served: it sends scripts that write the commits of as many sends, with
 * nothing around them. It is compared with what was served, and with the store alone, given the same commits.
 */
export const benchmark: Benchmark = {
  number: 4,
  name: 'blocking-redis',
  work: 'blocking SendMessage, 4 events, Redis, Express, 64 connections',
  goals: [
    { ratio: 'commits served / bare-redis', atLeast: 0.6 },
    { ratio: 'commits of the store / bare-redis', atLeast: 0.6 },
    // Four commits; renewals and sweeps come on top.
    { ratio: 'round trips per send', atMost: 4.1 },
  ],
  run,
};

const connections = 64;
const commitsPerSend = 4;
const commits = 'commits/s';
const roundTrips = 'round trips per send';

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const options = { connections, requests: short ? 300 : 10_000, warmUp: short ? 64 : 10_000 };

  async function baton(redis: Redis): Promise<void> {
    const server = await startBaton({ store: 'redis', redis: redis.url, http: 'express' });
    await measureSends('baton', server, options, values, async () => {
      values.add('baton', roundTrips, (await sentTo(redis)) / (options.requests + options.warmUp));
    });
  }

  async function store({ url }: Redis): Promise<void> {
    const worker = await startBatonStore({ store: 'redis', redis: url });
    await worker.ask('sends', { requests: options.warmUp, tasks: connections });
    const { ms } = await worker.ask('sends', { requests: options.requests, tasks: connections });
    values.add('baton', commits, ((options.requests * commitsPerSend) / ms) * 1_000);
    await worker.stop();
  }

  async function bare({ url }: Redis): Promise<void> {
    const floor = await Worker.start<BareRedis>('contenders/bare/bare-redis.ts', {
      redis: url,
      commits: await commitsOfBaton(),
    });
    await floor.ask('sends', { requests: options.warmUp, tasks: connections });
    const ms = await floor.ask('sends', { requests: options.requests, tasks: connections });
    values.add('bare-redis', commits, ((options.requests * commitsPerSend) / ms) * 1_000);
    await floor.stop();
  }

  const contenders = { baton, store, bare };
  await alternate(['baton', 'store', 'bare'], runs, (name) => withRedis(contenders[name]));
  const served = values.median('baton', perSecond) * commitsPerSend;
  return {
    results: values.results,
    ratios: {
      'commits served / bare-redis': round(served / values.median('bare-redis', commits)),
      'commits of the store / bare-redis': values.ratio('baton', 'bare-redis', commits),
      'round trips per send': round(values.median('baton', roundTrips)),
    },
  };
}

/** How many commands clients have sent: scripts, and reads without one. The commands that scripts call are not counted. */
async function sentTo({ cli }: Redis): Promise<number> {
  const stats = await cli('INFO', 'commandstats');
  return [...stats.matchAll(/^cmdstat_(?:eval|evalsha|lrange):calls=(\d+)/gm)].reduce(
    (all, [, calls]) => all + Number(calls),
    0,
  );
}
