import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgentServer } from '@batonjs/server';
import { etcdStore } from '@batonjs/store-etcd';
import { sqliteStore } from '@batonjs/store-sqlite';
import { replayTask, type TaskRecording } from '@batonjs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { node, run } from '../../../test/kit/processes.ts';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { canStartEtcd, startEtcd } from '../../../test/support/etcd.ts';
import { cli, fieldOf } from './cli.ts';
import agent from './replayed/agent.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(`./replayed/${name}.ts`, import.meta.url));

/** A file with the tasks of two messages, the second of which has a label. Their ids. */
async function recordedFile() {
  const file = join(temporaryFolder(), 'tasks.db');
  const store = sqliteStore(file);
  onTestFinished(() => store.close());
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Orders', description: 'Takes orders' },
      name: 'orders',
      store,
      agent,
      messages: { labelsOf: ({ parts }) => (JSON.stringify(parts).includes('milk') ? ['cold'] : []) },
    }),
  );
  const send = async (text: string) => (await rpc(server, 'SendMessage', { message: say(text) })).task.id;
  return { file, store, ids: [await send('tea'), await send('milk')] };
}

const hasEtcd = await canStartEtcd();
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The command in a process of its own. */
async function replay(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  await using process = run(node, ['--conditions=@batonjs/source', main, 'replay', ...args], { env });
  return { code: await process.ended, output: process.output };
}

describe('replay', () => {
  it('finds no difference under the same code, changes nothing, and saves what tests replay', async () => {
    const { file, store, ids } = await recordedFile();
    const logs = () => Promise.all(ids.map((id) => store.load('["orders","",""]', id)));
    const before = await logs();
    const folder = join(temporaryFolder(), 'recordings');
    const args = ['--store', file, '--name', 'orders', '--agent', fileOf('agent'), '--since', '1h'];
    const { code, output } = await replay([...args, '--save', folder]);
    expect([fieldOf(output, 'Tasks'), fieldOf(output, 'Different'), code]).toEqual(['2', '0', 0]);
    expect(await logs()).toEqual(before);
    const saved = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(saved).toHaveLength(2);
    for (const text of saved) {
      const recording: TaskRecording = JSON.parse(text);
      expect((await replayTask(agent, recording)).differences).toEqual([]);
    }
  });

  it('ends with 1 where the code does otherwise, and says where', async () => {
    const { file, ids } = await recordedFile();
    const args = ['--store', file, '--name', 'orders', '--agent', fileOf('changed')];
    const { code, output } = await replay(args);
    expect([fieldOf(output, 'Different'), code]).toEqual(['2', 1]);
    expect(output).toMatch(
      /^Difference: \S+, turn 1, attempt 1, fact 4: The agent runs the step "cost", and the log has the step "price" in its place$/m,
    );
    const cold = await replay([...args, '--label', 'cold', '-o', 'json']);
    expect(JSON.parse(cold.output)).toMatchObject({
      tasks: [{ taskId: ids[1], turns: 1, differences: [{ kind: 'renamed-step', position: 4 }] }],
      different: 1,
      skipped: [],
    });
    const missing = await replay([...args, '--task', 'no-such-task']);
    expect([fieldOf(missing.output, 'Skipped'), missing.code]).toEqual([
      'no-such-task: there is no such task',
      1,
    ]);
  });

  it.each([
    ['file', /throws "writeFileSync: a change of a file is an effect outside of a step"/],
    ['program', /throws "spawnSync: a program is an effect outside of a step"/],
    ['connection', /throws "connect: a connection is an effect outside of a step"/],
    ['fetch', /The agent calls http:\/\/127.0.0.1:\d+\/ outside of a step/],
  ])('lets no effect happen outside of a step: %s', async (EFFECT, message) => {
    const { file, ids } = await recordedFile();
    let connections = 0;
    const listener = createServer((socket) => {
      connections++;
      socket.destroy();
    }).listen(0);
    onTestFinished(() => void listener.close());
    const address = listener.address();
    const EFFECT_PORT = String(typeof address === 'object' && address ? address.port : 0);
    const EFFECT_FILE = join(temporaryFolder(), 'effect');
    const args = ['--store', file, '--name', 'orders', '--task', ids[0], '--agent', fileOf('with-effects')];
    const { code, output } = await replay(args, { EFFECT, EFFECT_FILE, EFFECT_PORT });
    expect(output).toMatch(message);
    expect(output).not.toContain('secret');
    expect([code, connections, existsSync(EFFECT_FILE)]).toEqual([1, 0, false]);
  });

  it.skipIf(!hasEtcd || !repetitions(0, 1))('reads tasks of an etcd cluster', async () => {
    const cluster = await startEtcd({ members: 1, inMemory: true });
    onTestFinished(() => cluster.stop());
    const store = etcdStore(cluster.urls);
    onTestFinished(() => store.close());
    const card = { name: 'Orders', description: 'Takes orders' };
    const server = closedAfterTest(createAgentServer({ card, name: 'orders', store, agent }));
    await rpc(server, 'SendMessage', { message: say('tea') });
    const url = cluster.urls[0]?.replace('http', 'etcd') ?? '';
    const { code, output } = await replay(['--store', url, '--name', 'orders', '--agent', fileOf('agent')]);
    expect([fieldOf(output, 'Tasks'), fieldOf(output, 'Different'), code]).toEqual(['1', '0', 0]);
    expect((await cli(`doctor --store ${url} --agent orders`)).code).toBe(0);
  });

  it('refuses a file without an agent, and a store that is none', async () => {
    const { file } = await recordedFile();
    const none = await cli(`replay --store ${file} --agent ${fileOf('no-such')}`);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('There is no file')]);
    expect((await cli(`replay --store mysql://host --agent ${fileOf('agent')}`)).code).toBe(2);
    expect((await cli(`replay --store ${file}`)).code).toBe(2);
  });
});
