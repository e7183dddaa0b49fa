import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StoreError } from '@batonjs/store';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scope } from '../../../../test/kit/scope.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';
import { heardWithinMs, type Peer } from '../../src/base/store/peers.ts';
import { allRecords } from '../../src/base/store/records.ts';
import type { PushOptions } from '../../src/webhooks/webhooks.ts';
import { registered } from './kit/push-config.ts';
import { begin, gatedAgent, send, servePushing } from './kit/serve-pushing.ts';
import { heard } from './kit/settings.ts';
import { webhook } from './kit/webhook.ts';
import { stores } from './stores.ts';

const program = await builtProgram(new URL('./kit/work-without.ts', import.meta.url));

/** Starts the worker and resolves when it works. It is killed when the test ends. */
async function startWorker(path: string, without: string): Promise<void> {
  const args = ['--disable-warning=ExperimentalWarning', program, path, without];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await once(child.stdout, 'data');
}

describe('a webhook', () => {
  it.each([
    ['allow', 'before'],
    ['allow', 'after'],
    ['sign', 'before'],
    ['sign', 'after'],
  ])('loses nothing by a worker without `push.%s` that started %s the server', async (without, order) => {
    const path = join(temporaryFolder(), 'tasks.db');
    const hook = await webhook();
    if (order === 'before') await startWorker(path, without);
    const sign = () => ({ authorization: 'Signed yes' });
    const store = sqliteStore(path);
    const server = servePushing(store, { sign }, { run: 'workers' });
    onTestFinished(() => store.close());
    if (order === 'after') await startWorker(path, without);
    await Promise.all(Array.from({ length: 6 }, () => send(server, { url: hook.url() })));
    await hook.until(6 * heard.length);
    expect(new Set(hook.received.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Signed yes']),
    );
    expect(await server.push.deadLetters()).toEqual([]);
    const warning = new RegExp(`\`push.${without}\`.*server \\d+ on .*worker \\d+ on `);
    await eventually(async () =>
      expect(await server.readiness()).toMatchObject({ warning: expect.stringMatching(warning) }),
    );
  });
});

it('a webhook is given back by a process that cannot find out whether others sign', async () => {
  const store = sqliteStore(join(temporaryFolder(), 'tasks.db'));
  onTestFinished(() => store.close());
  let failures = 0;
  const failing = {
    ...store,
    async claimDeliveries(request: Parameters<typeof store.claimDeliveries>[0]) {
      const claimed = await store.claimDeliveries(request);
      if (claimed.length > 0 && failures === 0) failures = 1;
      return claimed;
    },
    async listRecords(...asked: Parameters<typeof store.listRecords>) {
      if (failures !== 1) return store.listRecords(...asked);
      failures = 2;
      throw new StoreError('UNAVAILABLE', 'Not now');
    },
  };
  const hook = await webhook();
  // A claim lasts for longer than that.
  const server = servePushing(failing, { timeoutMs: 60_000 });
  await pause(2 * heardWithinMs);
  await send(server, { url: hook.url() });
  await hook.until(heard.length);
  expect(failures).toBe(2);
});

const shared = stores.filter(([name]) => name !== 'memory');

describe.each(shared)('a webhook that a process refuses by its options, on %s,', (_name, create) => {
  /** Servers with these options, and a task with a webhook whose updates are due. All but the first so many are closed. */
  async function withServers(lists: readonly PushOptions[], version = '1.0', open = lists.length) {
    const opened = create();
    const hook = await webhook();
    const { agent, letGo } = gatedAgent();
    const first = servePushing(opened(), {}, { agent, push: false });
    const { id: taskId } = await begin(first);
    const servers = lists.map((push) => servePushing(opened(), push));
    const known = opened();
    const delivering = async () =>
      (await allRecords(known, { prefix: 'processes/' })).filter(({ value }) => (value as Peer).push);
    await eventually(async () => expect(await delivering()).toHaveLength(lists.length));
    // What a process knows of the others may be that old.
    await pause(heardWithinMs);
    await Promise.all(servers.slice(open).map((server) => server.close()));
    await known.putPushConfig(registered({ taskId, id: 'w', url: hook.url() }, version));
    letGo();
    return { hook, servers, kept: () => known.getPushConfig(scope, taskId, 'w') };
  }

  const retry = { maxAgeMs: 200 };
  const notPublic = 'URL must lead to a public address';
  const server = String.raw`server \d+ on [^ ,]+`;

  it.each<[string, readonly PushOptions[], string, number, string]>([
    // The first one signs, so that the second one leaves the delivery to it.
    ['sign and allow', [{ allow: [], retry, sign: () => ({}) }, { retry }], '1.0', 2, notPublic],
    ['write its version', [{ retry }, { retry }], '9.9', 2, 'no format for version 9.9'],
    ['do so since one closed', [{ allow: [], retry }, {}], '1.0', 1, notPublic],
  ])(
    'is given up, if none can %s, with the reason and those that refused',
    async (_what, lists, version, open, reason) => {
      const { hook, kept } = await withServers(lists, version, open);
      await eventually(async () => expect(await kept()).toHaveProperty('dead'));
      const refused = Array.from({ length: open }, () => server).join(', ');
      expect((await kept())?.dead).toMatch(new RegExp(`^${reason}, refused by ${refused}$`));
      expect([hook.received, (await kept())?.attempts]).toEqual([[], 0]);
    },
  );

  it('is not given up by a process that refuses it, however old it is, while another one may deliver', async () => {
    const { hook, servers } = await withServers([{ allow: [], retry: { maxAgeMs: 1 } }, {}]);
    await hook.until(2);
    expect(await servers[0]!.push.deadLetters()).toEqual([]);
  });
});
