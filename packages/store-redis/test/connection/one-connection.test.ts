import { randomUUID } from 'node:crypto';
import { connect } from '@batonjs/client';
import { append, artifact, completed, createAgentServer } from '@batonjs/server';
import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

it.skipIf(!redis)(
  'Processes that work only during calls follow and work with one connection each, also after it was lost',
  async () => {
    const prefix = `test-${randomUUID()}`;
    const admin = createClient({ url: redis!.url });
    await admin.connect();
    onTestFinished(() => admin.destroy());
    const gates = new Map<string, () => void>();
    /** A process, by the name of its connections. */
    const open = (name: string) => {
      const store = redisStore({ url: redis!.url, prefix, connections: 1, client: { name } });
      onTestFinished(() => store.close());
      const server = closedAfterTest(
        createAgentServer({
          card: { name: 'Due', description: 'Works only during calls' },
          store,
          run: 'due',
          restart: 'rerun',
          // Only a notification tells of a change.
          timeouts: { sweepMs: Number.POSITIVE_INFINITY },
          agent: async function* ({ text }) {
            yield artifact('answer', 'Half');
            await new Promise<void>((resolve) => gates.set(text, resolve));
            yield append('answer', ' and half');
            yield completed();
          },
        }),
      );
      const connections = async () =>
        String(await admin.sendCommand(['CLIENT', 'LIST']))
          .split('\n')
          .filter((line) => line.includes(` name=${name} `));
      return { server, connections };
    };
    const [follower, worker] = [open(`follower-${prefix}`), open(`worker-${prefix}`)];
    const client = await connect('http://localhost', { fetch: follower.server.fetch });
    for (const [round, text] of ['first', 'second'].entries()) {
      const { task } = await client.send(text, { configuration: { returnImmediately: true } });
      const stream = client.follow(task!);
      const seen = (async () => {
        const pieces: string[] = [];
        for await (const { artifactUpdate } of stream)
          for (const part of artifactUpdate?.artifact.parts ?? []) if ('text' in part) pieces.push(part.text);
        return pieces.join('');
      })();
      const run = worker.server.runDue({ forMs: 30_000 });
      await eventually(async () => expect(gates.get(text)).toBeDefined());
      expect(await follower.connections()).toHaveLength(1);
      expect(await worker.connections()).toHaveLength(1);
      if (round === 1) {
        const [lost = ''] = await follower.connections();
        await admin.sendCommand(['CLIENT', 'KILL', 'ID', /^id=(\d+) /.exec(lost)![1]!]);
      }
      gates.get(text)!();
      expect(await run).toMatchObject({ turns: 1 });
      expect(await seen).toBe('Half and half');
      await eventually(async () => expect(await follower.connections()).toHaveLength(1));
    }
  },
);
