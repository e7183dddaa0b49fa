/**
 * `pnpm bench:files --bytes 4294967296 --files 10000`: a file goes up, through an agent,
 * and down again; then an agent makes many small ones, and the task is read and listed. Prints what each leg took of CPU
 * time beside a bare pipe of `node:http` that also hashes, in the same run, and of memory above the idle processes.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { FileQuestions } from './files/process.ts';
import { Worker } from './harness/worker.ts';

const { values } = parseArgs({
  options: {
    bytes: { type: 'string', default: `${4 * 1024 ** 3}` },
    files: { type: 'string', default: '10000' },
  },
});
const folder = await mkdtemp(join(tmpdir(), 'baton-files-'));
const mib = 1024 ** 2;

async function makeSource(bytes: number): Promise<string> {
  const handle = await open(join(folder, 'source'), 'w');
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(mib);
  for (let at = 0; at < bytes; at += chunk.length) {
    chunk.writeUInt32LE((at / mib) % 2 ** 32, 0);
    const part = chunk.subarray(0, Math.min(chunk.length, bytes - at));
    hash.update(part);
    await handle.write(part);
  }
  await handle.close();
  return hash.digest('hex');
}

/** Runs a leg, and says what it took of each process. */
async function measured<T>(sides: Readonly<Record<string, Side>>, leg: () => Promise<T>) {
  const names = Object.keys(sides);
  const before = await Promise.all(names.map((name) => sides[name]!.ask('begin')));
  const value = await leg();
  const after = await Promise.all(names.map((name) => sides[name]!.ask('end')));
  const cpu = after.map((end, n) => end.cpu - before[n]!.cpu);
  const memory = after.map((end, n) => (end.rss - before[n]!.rss) / mib);
  return { value, cpu: cpu.reduce((sum, one) => sum + one), memory };
}

type Side = Worker<FileQuestions>;

try {
  const start = (): Promise<Side> => Worker.start('files/process.ts', { folder }, ['--expose-gc']);
  const [plain, plainClient, server, client] = [await start(), await start(), await start(), await start()];
  const sha256 = await makeSource(Number(values.bytes));
  const bareUrl = await plain.ask('serveBare');
  const url = await server.ask('serve');
  await client.ask('connect', url);
  const bare = { server: plain, client: plainClient };
  const baton = { server, client };
  const legs = {
    up: [
      await measured(bare, () => plainClient.ask('putBare', bareUrl)),
      await measured(baton, () => client.ask('put')),
    ],
    through: [
      await measured(bare, () => plain.ask('throughBare')),
      await measured(baton, () => client.ask('through')),
    ],
  };
  const link = String(legs.through[1]!.value);
  const down = [
    await measured(bare, () => plainClient.ask('getBare', bareUrl)),
    await measured(baton, () => client.ask('get', link)),
  ];
  for (const [leg, [without, with_]] of Object.entries({ ...legs, down })) {
    const memory = with_!.memory.map((one) => one.toFixed(0));
    console.log(
      `${leg}: ${(with_!.cpu / without!.cpu).toFixed(2)} × the CPU time of the bare pipe (${with_!.cpu.toFixed(0)} / ` +
        `${without!.cpu.toFixed(0)} ms); memory above idle: server ${memory[0]} MiB, client ${memory[1]} MiB ` +
        `(bare: ${without!.memory.map((one) => one.toFixed(0)).join(', ')})`,
    );
  }
  for (const { value } of down)
    if (value !== sha256) throw new Error('The file that came down is another one');
  const made = await measured(baton, () => client.ask('make', Number(values.files)));
  console.log(`${values.files} files of 100 kB: made in ${made.cpu.toFixed(0)} ms of CPU time`);
  for (const read of ['read', 'list', 'read', 'list'] as const) {
    const took = await measured({ server }, () =>
      read === 'read' ? client.ask(read, made.value) : client.ask(read),
    );
    console.log(`${read}: ${took.value} files, ${took.cpu.toFixed(1)} ms of CPU time of the server`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit();
