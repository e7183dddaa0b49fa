/**
 * `pnpm container:rehearse`: where no Docker is at hand, the very instructions of `Dockerfile` in a plain folder, then the
 * gallery as the container starts it (its health check, a SIGTERM while a task runs), and the processes of
 * `apps/two-servers/compose.yml` on a Redis of their own. The exit code is 1 if any of it goes wrong.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@batonjs/client';
import { parse } from 'yaml';
import { type Command, freePort, run } from '../test/kit/processes.ts';
import { buildImage, type Image } from './container/image.ts';
import { root } from './packed/pack.ts';

/** A service of the compose file. */
interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

const folder = mkdtempSync(join(tmpdir(), 'baton-container-'));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
try {
  say('Building as the Dockerfile does …');
  const image = await buildImage(readFileSync(join(root, 'Dockerfile'), 'utf8'), folder);
  const { stdout } = await promisify(execFile)('du', ['-sm', image.folder]);
  say(`The folder has ${Number.parseInt(stdout, 10)} MB`);
  await rehearseGallery(image);
  const compose = parse(readFileSync(join(root, 'apps/two-servers/compose.yml'), 'utf8'), { merge: true });
  await rehearseServices(image, compose.services);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function rehearseGallery(image: Image): Promise<void> {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  await using gallery = start(image, image.command, { PORT: port, PUBLIC_URL: url });
  await gallery.until(/Ctrl-C stops/);
  await healthy(image, image.healthCheck, port);
  const agent = await connect(`${url}/agents/counter`);
  const { task } = await agent.send('Count to 4', { returnImmediately: true });
  process.kill(gallery.pid, 'SIGTERM');
  expect((await gallery.ended) === 0, `The gallery ended with ${await gallery.ended}:\n${gallery.output}`);

  await using again = start(image, image.command, { PORT: port, PUBLIC_URL: url });
  await again.until(/Ctrl-C stops/);
  const { status } = await agent.task(task!.id).get();
  expect(status.state === 'TASK_STATE_COMPLETED', `The task that ran at SIGTERM is ${status.state}`);
  say('The gallery is healthy, and lets a running task finish on SIGTERM');
}

async function rehearseServices(image: Image, services: Readonly<Record<string, Service>>): Promise<void> {
  const ports: Record<string, string> = { redis: String(await freePort()) };
  const redisData = mkdtempSync(join(folder, 'redis-'));
  const [program = '', ...options] = services.redis!.command;
  await using redis = run(program, [
    ...options,
    '--port',
    ports.redis!,
    '--bind',
    '127.0.0.1',
    '--dir',
    redisData,
  ]);
  await redis.until(/Ready to accept connections/);
  const processes = new AsyncDisposableStack();
  const started = new Map<string, Command>();
  try {
    for (const [name, { command, environment, ports: published }] of Object.entries(services)) {
      if (name === 'redis') continue;
      const port = published ? String(await freePort()) : '0';
      ports[name] = port;
      const env = {
        ...environment,
        PORT: port,
        BATON_STORE: environment.BATON_STORE!.replace('redis:6379', `127.0.0.1:${ports.redis}`),
        ...(published && { PUBLIC_URL: `http://127.0.0.1:${port}` }),
      };
      started.set(name, processes.use(start(image, command, env)));
    }
    for (const name of ['server-1', 'server-2'])
      await healthy(image, services[name]!.healthcheck.test.slice(1), ports[name]!);
    const [one, two] = await Promise.all(
      ['server-1', 'server-2'].map((name) => connect(`http://127.0.0.1:${ports[name]}`)),
    );
    const { task: asked } = await one!.send('Count');
    const { task: done } = await two!.task(asked!.id).send({ data: { to: 3 } });
    const numbers = done?.artifacts?.[0]?.parts.length;
    expect(numbers === 3, `The worker counted ${numbers} numbers, not 3: ${JSON.stringify(done)}`);
    for (const [name, service] of started) {
      process.kill(service.pid, 'SIGTERM');
      expect((await service.ended) === 0, `${name} ended with ${await service.ended}:\n${service.output}`);
    }
    say('Two servers and a worker share tasks on Redis, and end on SIGTERM');
  } finally {
    await processes.disposeAsync();
  }
}

function start(
  image: Image,
  [program = '', ...args]: readonly string[],
  env: Record<string, string>,
): Command {
  return run(program, args, { cwd: image.folder, env: { ...image.env, ...env } });
}

/** Runs a health check as Docker does, until it succeeds. Rejects after a hundred times. */
async function healthy(image: Image, check: readonly string[], port: string): Promise<void> {
  for (let times = 0; times < 100; times += 1) {
    const words = check.map((word) => word.replaceAll(':4000', `:${port}`));
    await using once = start(image, words, { PORT: port });
    if ((await once.ended) === 0) return;
  }
  throw new Error(`The health check fails: ${check.join(' ')}`);
}

function expect(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}
