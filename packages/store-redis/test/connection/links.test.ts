import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { canStart, startCluster, startRedis } from '../../../../test/support/redis.ts';
import { Link } from '../../src/connection/link.ts';
import { nodeRedis } from '../../src/connection/node-redis.ts';
import { Servers } from '../../src/connection/servers.ts';

const hasRedis = await canStart();

it('Connections share one class, whatever their servers are', () => {
  const servers = new Servers([], { name: 'b' }, 1_000);
  const [one, other] = ['redis://a.example', 'redis://ada:secret@b.example:1/2'].map((url) =>
    servers.client(url),
  );
  expect(other!.constructor).toBe(one!.constructor);
});

it.skipIf(!hasRedis)(
  'Another connection is needed where one is suspected, though not right after a Cluster was discovered',
  async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.stop());
    const servers = new Servers(cluster.urls, {}, 60_000);
    const lost: unknown[] = [];
    const link = new Link(servers, (cause) => lost.push(cause));
    onTestFinished(() => link.destroy());
    await link.ready;
    link.suspect('at first');
    // As if as much time had passed.
    Object.assign(servers, { timeoutMs: 0 });
    link.suspect('later');
    expect(lost).toEqual(['later']);
  },
);

it.skipIf(!hasRedis)(
  'A connection that was replaced is open until what waits on it is answered',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const [name, list] = [`links-${process.pid}`, `links-${process.pid}-list`];
    const driver = nodeRedis({ urls: [redis.url], timeoutMs: 6_000, client: { name } });
    onTestFinished(() => driver.close());
    const connections = async () =>
      (await redis.cli('CLIENT', 'LIST')).split('\n').filter((line) => line.includes(` name=${name} `))
        .length;
    await driver.info();
    // Nothing more is answered on this connection before the list has an element.
    const blocked = driver.command(list, ['BLPOP', list, '0']);
    // It is answered so much later than the other one that a busy machine has time for what comes between.
    await sleep(4_000);
    const waiting = driver.command(list, ['ECHO', 'answered']);
    await expect(blocked).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await vi.waitFor(() => expect(driver.epoch).toBe(2));
    expect(await connections()).toBe(2);
    await redis.cli('LPUSH', list, 'x');
    expect(await waiting).toBe('answered');
    await vi.waitFor(async () => expect(await connections()).toBe(1));
  },
);
