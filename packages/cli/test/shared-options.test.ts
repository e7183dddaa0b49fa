import { join } from 'node:path';
import { extend, formInput, taskError } from '@batonjs/extensions';
import { type AgentServerOptions, completed, createAgentServer, taskAgent } from '@batonjs/server';
import { createWorker } from '@batonjs/server/worker';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../test/kit/until.ts';
import { cli } from './cli.ts';

const card = { name: 'Test', description: 'For tests' };
const agent = taskAgent(async function* () {
  yield completed();
});
const secret = 'rosebud';

/** A server and a worker on a file of their own. */
function both(ofServer: Partial<AgentServerOptions>, ofWorker: Partial<AgentServerOptions>) {
  const file = join(temporaryFolder(), 'tasks.db');
  const lines: string[] = [];
  const options = () => {
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    return { agent, store, logger: (_level: string, line: string) => void lines.push(line) };
  };
  const server = closedAfterTest(createAgentServer({ card, ...options(), ...ofServer }));
  const worker = closedAfterTest(createWorker({ ...options(), ...ofWorker }));
  const doctor = async () => (await cli(`doctor --store ${file} --agent agent`)).stdout;
  return { server, worker, store: options().store, doctor, lines };
}

it.each<[string, Partial<AgentServerOptions>, Partial<AgentServerOptions>]>([
  ['`retention`', { retention: { closedAfterMs: 1_000, everyMs: 5 } }, {}],
  ['`retention`', { retention: { closedAfterMs: 9, rules: [] } }, { retention: { closedAfterMs: 8 } }],
  ['`queue`', { queue: { perCaller: 2 } }, { queue: { perCaller: 2, priority: 0 } }],
  ['`timeouts`', { timeouts: { taskMs: 99_000 } }, {}],
  ['`limits.factsPerTask`', { limits: { factsPerTask: 9, turns: 3 } }, { limits: { turns: 4 } }],
  ['`extensions`', extend({ agent, card }, formInput, taskError), {}],
  ['`push.allow`, `push.sign`', { push: { allow: [secret], sign: () => ({ secret }) } }, {}],
  ['`push.updates`', { push: { updates: 'all' } }, { push: { timeoutMs: 7 } }],
])(
  '%s that a server and a worker do not share is named by both, and by the doctor',
  async (named, ...given) => {
    const { server, worker, doctor, lines } = both(...given);
    const differ = `these differ: ${named} (one: server`;
    for (const process of [server, worker])
      await eventually(async () =>
        expect(await process.readiness()).toMatchObject({
          isReady: true,
          warning: expect.stringContaining(differ),
        }),
      );
    const said = await doctor();
    expect(said).toMatch(/^Problem: options of servers and workers: /m);
    expect(said).toContain(differ);
    expect(said + lines.join()).not.toContain(secret);
    await worker.close({ graceMs: 0 });
    await eventually(async () => expect(await server.readiness()).toEqual({ isReady: true }));
    expect(await doctor()).toMatch(/^Ok: options of servers and workers: the same in all$/m);
  },
);

it.each<[string, Partial<AgentServerOptions>, Partial<AgentServerOptions>]>([
  [
    'of one process alone',
    { limits: { turns: 3 }, timeouts: { blockingMs: 9 } },
    { timeouts: { leaseMs: 20_000 }, version: '2' },
  ],
  ['in another order', { push: { allow: ['a', 'b'] } }, { push: { allow: ['b', 'a'] } }],
  ['that are the defaults', { limits: { factsPerTask: 100_000 }, push: { http: false } }, {}],
  ['of webhooks, which the server has none of,', { push: false }, { push: { allow: ['a'] } }],
  ['of webhooks, which the worker leaves alone,', { push: { allow: ['a'] } }, { push: false }],
])('options %s are no difference', async (_which, ...given) => {
  const { store, doctor } = both(...given);
  await eventually(async () =>
    expect(await store.listRecords({ prefix: 'processes/', limit: 9 })).toHaveLength(2),
  );
  expect(await doctor()).toMatch(/^Ok: options of servers and workers: the same in all$/m);
});
