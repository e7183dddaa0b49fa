import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { parseDockerfile, wordsOf } from '../../scripts/container/dockerfile.ts';
import { type Command, freePort, run } from '../kit/processes.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { readText } from '../repository/source-files.ts';

/** Starts what a container starts, with the environment of its image. */
function start([program = '', ...args]: readonly string[], env: Record<string, string>): Command {
  const started = run(program, args, { env: { NODE_ENV: 'production', HOST: '127.0.0.1', ...env } });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

const statusOf = (url: string) =>
  fetch(url).then(
    async (response) => [response.status, (await response.text()).trim()] as const,
    () => [0, ''] as const,
  );

describe('SIGTERM, as an orchestrator sends it to the entry point of an image', () => {
  it('lets a worker end its turn, while its probes say that it drains', async () => {
    const { services } = parse(readText('apps/two-servers/compose.yml'), { merge: true });
    const folder = temporaryFolder();
    const [port, probes, workerProbes] = [await freePort(), await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    const common = {
      BATON_STORE: `sqlite:${join(folder, 'tasks.db')}`,
      PUBLIC_URL: url,
      GRACE_MS: '60000',
      METRICS_TOKEN: 'a-token-of-the-test',
    };
    const server = start(services['server-1'].command, {
      ...common,
      PORT: String(port),
      PROBES_PORT: String(probes),
    });
    const worker = start(services.worker.command, { ...common, PROBES_PORT: String(workerProbes) });
    for (const one of [probes, workerProbes]) {
      await vi.waitFor(async () =>
        expect(await statusOf(`http://127.0.0.1:${one}/startupz`)).toEqual([200, expect.anything()]),
      );
      expect(await statusOf(`http://127.0.0.1:${one}/metrics`)).toEqual([401, expect.anything()]);
    }
    const agent = await connect(url);
    const { task } = await agent.send({ data: { to: 15 } }, { returnImmediately: true });
    const follow = agent.task(task?.id ?? '');
    await vi.waitFor(async () =>
      expect((await follow.get()).artifacts?.[0]?.parts.length).toBeGreaterThan(1),
    );
    process.kill(worker.pid, 'SIGTERM');
    await vi.waitFor(async () =>
      expect(await statusOf(`http://127.0.0.1:${workerProbes}/readyz`)).toEqual([503, 'closing']),
    );
    expect(await statusOf(`http://127.0.0.1:${workerProbes}/livez`)).toEqual([200, 'alive']);
    expect(await worker.ended, worker.output).toBe(0);
    const { status, artifacts } = await follow.get();
    expect([status.state, artifacts?.[0]?.parts.length]).toEqual(['TASK_STATE_COMPLETED', 15]);
    process.kill(server.pid, 'SIGTERM');
    expect(await server.ended, server.output).toBe(0);
  });

  it('lets the program of the Dockerfile end its turn, and tell its clients', async () => {
    const image = parseDockerfile(readText('Dockerfile')).at(-1);
    const command = image?.instructions.findLast(({ name }) => name === 'CMD');
    if (!command) throw new Error('The Dockerfile has no CMD');
    const port = String(await freePort());
    const env = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, BATON_DATA: temporaryFolder() };
    const gallery = start(wordsOf(command), env);
    await gallery.until(/Ctrl-C stops/);
    expect(await statusOf(`${env.PUBLIC_URL}/readyz`)).toEqual([200, expect.anything()]);
    const agent = await connect(`${env.PUBLIC_URL}/agents/counter`);
    const states: string[] = [];
    for await (const event of agent.stream('Count to 4')) {
      if (event.task) process.kill(gallery.pid, 'SIGTERM');
      if (event.statusUpdate) states.push(event.statusUpdate.status.state);
    }
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(await gallery.ended, gallery.output).toBe(0);
  });
});
