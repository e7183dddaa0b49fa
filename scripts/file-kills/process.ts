/**
 * A process that works with files, and kills itself at one of its writes. First it does again what the process before it
 * did, which may have died anywhere: clients send their messages again.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { eraseTasks, forkTask } from '@batonjs/operator';
import { artifact, completed, createAgentServer, file, type Part } from '@batonjs/server';
import { insideOf } from '../../packages/server/src/operations/call/inside-of.ts';
import { FileSweep } from '../../packages/server/src/turns/files/file-sweep.ts';
import { rpc, say } from '../../test/kit/rpc.ts';
import { type MediumName, mediumOf } from '../chaos/medium.ts';
import { contentOf, GONE } from './contents.ts';
import { Dying } from './dying.ts';
import { filesAt } from './files-at.ts';

/** The options of a process. `rounds`: those that it does; it may die in the last one. Without any, it sweeps. */
export interface FileOrders {
  readonly database: MediumName;
  readonly location: string;
  readonly folder: string;
  /** Where files are instead: the address of S3. */
  readonly s3?: string | undefined;
  readonly rounds: readonly string[];
  readonly dieAt: number;
  /** Takes out a protection: bytes are said to be stored before they are. */
  readonly sabotage: boolean;
}

const { database, location, folder, s3, rounds, dieAt, sabotage } = JSON.parse(
  process.argv[2]!,
) as FileOrders;
const dying = new Dying();
dying.watch();
const kept = filesAt(folder, s3);
const leaseMs = 800;
let ahead = 0;
const server = createAgentServer({
  card: { name: 'Files', description: 'Keeps files', defaultInputModes: ['*/*'] },
  name: 'files',
  publicUrl: 'http://localhost/files-agent',
  agent: async function* ({ message, file: open, saveFile, step, references }) {
    const [first] = message.parts as [Part];
    if ('text' in first) {
      const { artifacts } = await references();
      for (const [n, { artifact: one }] of artifacts.entries())
        yield artifact(`${n}`, ...(one.parts as [Part]));
      return yield completed(file(contentOf(`${first.text}/${GONE}`)));
    }
    for (const part of message.parts) await open(part).bytes();
    const round = message.messageId;
    const saved = await step('save', () =>
      saveFile(new Blob([contentOf(`${round}/streamed`) as Uint8Array<ArrayBuffer>]).stream()),
    );
    yield artifact('a', saved, file(contentOf(`${round}/made`)));
    yield completed();
  },
  files: {
    store: sabotage
      ? {
          ...kept,
          put: async (key, bytes) => {
            const all: Uint8Array[] = [];
            for await (const chunk of bytes) all.push(chunk);
            setTimeout(() => kept.put(key, Readable.from(all)).catch(() => {}), 30);
          },
        }
      : kept,
  },
  store: dying.of(await mediumOf(database).open(location)),
  restart: { maxAttempts: 1_000 },
  timeouts: { leaseMs, sweepMs: leaseMs / 2, blockingMs: 60_000 },
  messages: { idempotency: true },
  clock: { now: () => Date.now() + ahead },
  logger: (level, message, details) => {
    if (level === 'error') console.error(message, details);
  },
} as Parameters<typeof createAgentServer>[0]);

/** What a client knows of a round: it survives the server. */
async function work(round: string): Promise<void> {
  const remembered = join(`${folder}-client`, round.replaceAll('/', '-'));
  if (!existsSync(remembered)) {
    const body = new Uint8Array(contentOf(`${round}/uploaded`));
    const request = new Request('http://localhost/files-agent/files', { method: 'POST', body });
    writeFileSync(remembered, await (await server.fetch(request)).text());
  }
  const uploaded = JSON.parse(readFileSync(remembered, 'utf8')) as Part;
  const sent = { raw: contentOf(`${round}/sent`).toString('base64') };
  const send = async (parts: readonly Part[], messageId: string, more = {}) =>
    (await rpc(server, 'SendMessage', { message: say([...parts], { messageId, ...more }) })).task;
  const { id } = await send([sent, uploaded], round);
  await forkTask(server, id);
  const more = { referenceTaskIds: [id] };
  const gone = await send([{ text: round }], `${round}/${GONE}`, more).catch(({ reason }) => reason);
  // It was erased already, if it is none.
  if (typeof gone === 'object') await eraseTasks(server, { taskId: gone.id });
  else if (gone !== 'TASK_NOT_FOUND') throw new Error(gone);
}

for (const round of rounds) {
  if (round === rounds.at(-1)) dying.arm(dieAt);
  await work(round);
}
if (rounds.length === 0) {
  ahead = 61 * 60_000;
  const { dependencies } = insideOf(server)!;
  dying.arm(dieAt);
  await new FileSweep(dependencies.options.files!.options, dependencies).round();
}
const { count } = dying;
await server.close();
console.log(count);
process.exit();
