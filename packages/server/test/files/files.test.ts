import { createHash } from 'node:crypto';
import { FILES } from '@batonjs/protocol/headers';
import type { TaskStore } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { scopeOf } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, artifact, completed, file, link, type Part, reply, taskAgent } from '../../src/index.ts';
import { bytesAt, large, raw, send, serveFiles } from './serve-files.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const about = { filename: 'a.png', mediaType: 'image/png' };

/** Answers with what it was sent, its files read and made again. */
const copying: Agent = async function* (turn) {
  for (const [n, part] of turn.message.parts.entries()) {
    const given = turn.file(part);
    const saved = await turn.saveFile(given.stream(), { filename: `${n}`, mediaType: 'image/png' });
    yield artifact(`${n}`, saved, file(await given.bytes(), about));
  }
  yield completed();
};

const both = (parts: readonly Part[]) => parts as [Part, ...Part[]];
const urlOf = (part: Part | undefined): string => (part && 'url' in part ? part.url : 'no link');
const dump = async (store: Pick<TaskStore, 'readFacts'>, taskId: string): Promise<string> =>
  JSON.stringify(await store.readFacts(scopeOf('agent', '', 'ana'), taskId, 0, 1_000));

describe('a server with `files`', () => {
  it('keeps large files of clients and agents apart from the task, and shows links', async () => {
    const { server, store, keys } = serveFiles(copying);
    const bytes = large('content ');
    const task = await send(server, [{ raw: raw(bytes), ...about }]);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    const [sent, streamed, made] = [task.history[0].parts[0], ...task.artifacts[0].parts];
    const known = { [FILES]: { size: bytes.length, sha256: sha256(bytes) } };
    expect(sent).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost\/agent\/files\/[\w-]+$/),
      ...about,
      metadata: known,
    });
    expect([streamed, made].map(({ metadata }) => metadata)).toEqual([known, known]);
    for (const part of [sent, streamed, made]) expect(await bytesAt(server, urlOf(part))).toEqual(bytes);
    // The one of the client and the one that the agent yielded are one: they have the same bytes.
    expect(await keys()).toHaveLength(2);
    const logged = await dump(store, task.id);
    expect(logged).not.toContain(raw(bytes).slice(0, 100));
    expect(logged.length).toBeLessThan(5_000);
  });

  it('leaves small files and other parts in the task, and takes every part', async () => {
    const { server, keys } = serveFiles(async function* ({ message }) {
      yield artifact('same', ...both(message.parts));
      yield completed();
    });
    const parts: Part[] = [
      { raw: raw(large('x', 65_536)), ...about },
      { text: 'baton-file:a/b' },
      { data: { url: 'baton-file:a/b', parts: [{ url: 'baton-file:a/b' }] } },
      { url: 'https://elsewhere.example/files/a.png' },
    ];
    const task = await send(server, parts);
    expect(task.artifacts[0].parts).toEqual(parts);
    expect(task.history[0].parts).toEqual(parts);
    expect(await keys()).toEqual([]);
  });

  it('shows links in every answer: streams, lists, later reads, messages of agents', async () => {
    const bytes = large('answer');
    const { server } = serveFiles(async ({ message, text }) =>
      text === 'task'
        ? taskAgent(async function* () {
            yield artifact('a', file(bytes));
            yield completed(file(large('note')));
          })({ message } as never)
        : reply(file(bytes)),
    );
    const answer = await send(server, [{ text: 'message' }]);
    expect(await bytesAt(server, urlOf(answer.parts[0]))).toEqual(bytes);
    const links: string[] = [];
    let id = '';
    for await (const { event } of stream(server, 'SendStreamingMessage', { message: say('task') })) {
      if ('task' in event) {
        id = event.task.id;
        links.push(...(event.task.artifacts ?? []).map(({ parts }) => urlOf(parts[0])));
      }
      if ('artifactUpdate' in event) links.push(urlOf(event.artifactUpdate.artifact.parts[0]));
      if ('statusUpdate' in event) links.push(urlOf(event.statusUpdate.status.message?.parts[0]));
    }
    const task = await rpc(server, 'GetTask', { id });
    const { tasks } = await rpc(server, 'ListTasks', { includeArtifacts: true });
    links.push(urlOf(task.artifacts[0].parts[0]), urlOf(task.status.message.parts[0]));
    links.push(
      ...tasks.flatMap((one: typeof task) =>
        (one.artifacts ?? []).map(({ parts }: { parts: Part[] }) => urlOf(parts[0])),
      ),
    );
    expect(links).toHaveLength(5);
    const read = await Promise.all(links.map((url) => bytesAt(server, url)));
    expect(read.filter((one) => Buffer.from(one).equals(bytes))).toHaveLength(3);
  });

  it('takes a link back as a file of its sender, and no address of a log', async () => {
    const { server, files, keys } = serveFiles(copying);
    const task = await send(server, [{ raw: raw(large()), ...about }]);
    const url = urlOf(task.artifacts[0].parts[0]);
    const again = await send(server, [{ url }]);
    expect(again.history[0].parts[0]).toMatchObject({ filename: '0', mediaType: 'image/png' });
    expect(await bytesAt(server, urlOf(again.history[0].parts[0]))).toEqual(large());
    const before = await keys();
    const [name] = before[0]!.split('/').slice(-1);
    for (const [part, caller] of [
      [{ url: `${url.slice(0, -2)}AA` }, 'ana'],
      [{ url: 'http://localhost/agent/files/x' }, 'ana'],
      [{ url: `baton-file:${task.id}/${name}` }, 'ana'],
      [{ url: `baton-file:${task.id}/${name}` }, 'bob'],
    ] as const)
      await expect(send(server, [part], { caller })).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    expect(await keys()).toEqual(before);
    // Who has the link may read the file, and has a file of his own then.
    const { history } = await send(server, [{ url }], { caller: 'bob' });
    for (const key of before) await files.delete(key);
    expect(await bytesAt(server, urlOf(history[0].parts[0]))).toEqual(large());
    await expect(send(server, [{ url }])).rejects.toThrow('message.parts names a file that is gone');
  });

  it('has keys whose words every file system takes, however long the name of a caller is', async () => {
    const { server, keys } = serveFiles(copying);
    await send(server, [{ raw: raw(large()) }], { caller: 'a'.repeat(300) });
    for (const key of await keys()) for (const word of key.split('/')) expect(word.length).toBeLessThan(256);
  });

  it('believes a link that an agent has from a caller only if it is signed, and no address of a log', async () => {
    let now = Date.now();
    const seen: unknown[] = [];
    const { server, keys } = serveFiles(
      async function* ({ file: open, text, saveFile }) {
        if (text === 'make') return yield completed(await saveFile(large(), about));
        const [url = '', sha = ''] = text.split(' ');
        const part = link(url, { metadata: { [FILES]: { size: 5, sha256: sha } } });
        const { size, filename, bytes } = open(part);
        seen.push([size, filename, await bytes().then(({ length }) => length, String)]);
        yield artifact('a', part);
        yield completed();
      },
      { clock: { now: () => now } },
    );
    const { id, status } = await send(server, [{ text: 'make' }]);
    const url = urlOf(status.message.parts[0]);
    const [at = '', token = ''] = url.split(/(?<=files\/)/);
    const signed = JSON.parse(Buffer.from(token, 'base64url').toString());
    const forged = (n: number, value: unknown) =>
      at + Buffer.from(JSON.stringify(signed.with(n, value))).toString('base64url');
    now += 30 * 24 * 3_600_000;
    const inLog = `baton-file:${id}/${signed[0].split('/').at(-1)} ${signed[2]}`;
    for (const text of [forged(1, 5), forged(4, 'b.exe'), forged(5, now * 2), inLog]) {
      const task = await send(server, [{ text }]);
      expect(task.artifacts?.[0].parts[0].url).toBe(text === inLog ? undefined : text);
    }
    expect(await keys()).toHaveLength(1);
    const refused = [undefined, undefined, expect.stringContaining('cannot be fetched')];
    const unread = [undefined, undefined, expect.stringContaining('names a file by no link')];
    expect(seen.splice(0)).toEqual([refused, refused, refused, unread]);
    // An old one, which a step may have kept, is read.
    const again = await send(server, [{ text: url }]);
    expect(seen).toEqual([[100_000, 'a.png', 100_000]]);
    expect(again.artifacts[0].parts[0]).toMatchObject({
      filename: 'a.png',
      metadata: { [FILES]: { size: 100_000 } },
    });
  });

  it('knows a message that is sent again by the same files', async () => {
    const { server, keys } = serveFiles(copying);
    const sent = (text: string) => send(server, [{ raw: raw(large(text)) }], { messageId: 'once' });
    const { id } = await sent('a');
    const before = await keys();
    expect((await sent('a')).id).toBe(id);
    expect(await keys()).toEqual(before);
    await expect(sent('b')).rejects.toMatchObject({ reason: 'MESSAGE_ID_CONFLICT' });
  });

  it('gives a task the files of other tasks of its caller that its agent yields', async () => {
    const { server, files, keys } = serveFiles(async function* (turn) {
      const { artifacts } = await turn.references();
      for (const [n, { artifact: one }] of artifacts.entries()) {
        expect(new Uint8Array(await turn.file(one.parts[0]!).bytes())).toEqual(large());
        yield artifact(`taken-${n}`, ...both(one.parts));
      }
      if (artifacts.length === 0) yield artifact('made', file(large()));
      yield completed();
    });
    const first = await send(server, [{ text: 'make' }]);
    const message = say([{ text: 'take', metadata: { taskId: first.id, artifactId: 'made' } }], {
      referenceTaskIds: [first.id],
    });
    const { task } = await rpc(server, 'SendMessage', { message });
    for (const key of await keys()) if (key.includes(first.id)) await files.delete(key);
    expect(await bytesAt(server, urlOf(task.artifacts[0].parts[0]))).toEqual(large());
  });

  it('reads files in parts, and refuses those inside of its network', async () => {
    const seen: unknown[] = [];
    const { server } = serveFiles(async function* ({ file: open, message }) {
      const [small, elsewhere] = message.parts.map(open);
      seen.push(small!.size, await small!.text(), (await small!.blob()).type);
      seen.push(elsewhere!.size, await elsewhere!.bytes().catch(({ message }) => message));
      yield completed();
    });
    await send(server, [
      { raw: btoa('words'), mediaType: 'text/plain' },
      { url: 'http://169.254.169.254/key' },
    ]);
    expect(seen).toEqual([5, 'words', 'text/plain', undefined, expect.stringContaining('cannot be fetched')]);
  });

  it('stores the bytes before the log: where the file store fails, nothing is written', async () => {
    const failing = { put: async () => Promise.reject(new Error('The disk is full')) };
    let caught: unknown;
    const { server, files } = serveFiles(async function* ({ saveFile }) {
      caught = await saveFile(large()).catch((error) => error);
      yield artifact('a', file(large()));
      yield completed();
    });
    Object.assign(files, failing);
    const refused = { reason: 'UNAVAILABLE' };
    await expect(send(server, [{ raw: raw(large()) }])).rejects.toMatchObject(refused);
    expect((await rpc(server, 'ListTasks', {})).tasks).toEqual([]);
    const task = await send(server, [{ text: 'make' }]);
    expect(caught).toMatchObject(refused);
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_FAILED' } });
    expect(task.artifacts).toBeUndefined();
  });

  it('passes on what the stream of an agent throws, and keeps nothing of it', async () => {
    async function* broken() {
      yield large();
      throw new RangeError('The camera is off');
    }
    const { server, keys } = serveFiles(async function* ({ saveFile }) {
      yield completed(await saveFile(broken()).catch(String).then(String));
    });
    const task = await send(server, [{ text: 'film' }]);
    expect(task.status.message.parts[0].text).toBe('RangeError: The camera is off');
    expect(await keys()).toEqual([]);
  });
});

describe('a server without `files`', () => {
  it('answers as ever: the bytes are in the task, and the card names no upload', async () => {
    const server = serve(
      async function* ({ message, file: open, saveFile }) {
        await expect(saveFile(large())).rejects.toThrow('needs the option `files`');
        await expect(open(link('https://example.com/a')).text()).rejects.toThrow('needs the option `files`');
        expect(new Uint8Array(await open(message.parts[0]!).bytes())).toEqual(large());
        yield artifact('a', ...both(message.parts));
        yield completed();
      },
      { card: { name: 'Test', description: 'For tests', defaultInputModes: ['*/*'] } },
    );
    const part = { raw: raw(large()), ...about };
    const card = await server.fetch(new Request('http://localhost/.well-known/agent-card.json'));
    expect(await card.text()).not.toContain('files');
    const { task } = await rpc(server, 'SendMessage', { message: say([part]) });
    expect([task.history[0].parts, task.artifacts[0].parts]).toEqual([[part], [part]]);
    for (const method of ['GET', 'POST'])
      expect((await server.fetch(new Request('http://localhost/files', { method }))).status).toBeGreaterThan(
        399,
      );
  });
});
