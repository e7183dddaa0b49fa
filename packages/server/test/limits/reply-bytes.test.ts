import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Task } from '@batonjs/protocol';
import { schemas } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import {
  type Agent,
  type AgentServer,
  artifact,
  completed,
  inputRequired,
  type References,
} from '../../src/index.ts';

const replyBytes = 20_000;
const OMITTED = 'https://batonjs.dev/a2a/omitted';
const large = 'x'.repeat(30_000);
const small = 'x'.repeat(5_000);

/** Echoes in an artifact, or in its status if the text says so. */
const echo: Agent = async function* ({ text }) {
  if (text.startsWith('?')) {
    yield inputRequired('And?');
    return;
  }
  if (!text.startsWith('!')) yield artifact({ artifactId: 'echo' }, text);
  yield text.startsWith('!') ? completed(text) : completed();
};

const serve = serveWith({ limits: { replyBytes } });

async function send(server: AgentServer, text: string, more = {}): Promise<Task> {
  return (await rpc(server, 'SendMessage', { message: say(text, more) })).task;
}

/** Every page of a list. */
async function pagesOf(server: AgentServer, query: object): Promise<Task[][]> {
  const pages: Task[][] = [];
  let pageToken = '';
  do {
    const page = schemas.ListTasks.result.parse(await rpc(server, 'ListTasks', { ...query, pageToken }));
    pages.push(page.tasks);
    pageToken = page.nextPageToken;
    expect(JSON.stringify(page.tasks).length).toBeLessThan(replyBytes + 1_000);
  } while (pageToken !== '');
  return pages;
}

describe('a list', () => {
  it('of tasks that are larger together than the heap is answered in pages', async () => {
    const folder = temporaryFolder();
    const script = fileURLToPath(new URL('./list-all.ts', import.meta.url));
    const options = ['--conditions=@batonjs/source', '--disable-warning=ExperimentalWarning'];
    const args = [...options, '--max-old-space-size=72', script, join(folder, 'tasks.db'), '50', '1000000'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { seen, pages, longest } = JSON.parse(stdout);
    expect(seen).toBe(50);
    expect(longest).toBeLessThanOrEqual(4);
    expect(pages).toBeGreaterThanOrEqual(13);
  });

  it('has shorter pages if the tasks do not fit, and goes on with the next one [R-LIST-02] [R-LIST-06]', async () => {
    const server = serve(echo);
    const sent: string[] = [];
    for (let n = 0; n < 9; n++) sent.push((await send(server, small)).id);
    const query = { pageSize: 50, historyLength: 10, includeArtifacts: true };
    const pages = await pagesOf(server, query);
    expect(pages.length).toBeGreaterThan(3);
    expect(
      pages
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(sent.sort());
    for (const { artifacts, history, metadata } of pages.flat()) {
      expect(artifacts?.[0]?.parts).toEqual([{ text: small }]);
      expect(history).toHaveLength(1);
      expect(metadata).toBeUndefined();
    }
  });

  it('without history and artifacts has shorter pages, too, if messages of statuses are large', async () => {
    const server = serve(echo);
    for (let n = 0; n < 9; n++) await send(server, `!${small}`);
    const pages = await pagesOf(server, {});
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.flat()).toHaveLength(9);
    for (const { status } of pages.flat()) expect(status.message?.parts).toEqual([{ text: `!${small}` }]);
  });

  it('shows a task that does not fit alone without what does not fit, and says what that is', async () => {
    const server = serve(echo);
    const ids: string[] = [];
    for (const text of [`!${large}`, large, small]) ids.push((await send(server, text)).id);
    const pages = await pagesOf(server, { historyLength: 10, includeArtifacts: true });
    // Tasks of the same millisecond are listed in the order of their ids, which are random.
    const tasks = pages.flat().toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    expect(tasks.map((task) => task.id)).toEqual(ids);
    expect(tasks[0]).toMatchObject({ metadata: { [OMITTED]: ['status.message', 'history'] } });
    expect(tasks[0]?.status).toEqual({ state: 'TASK_STATE_COMPLETED', timestamp: expect.any(String) });
    expect(tasks[1]).toMatchObject({ metadata: { [OMITTED]: ['artifacts', 'history'] } });
    expect(tasks[1]).not.toHaveProperty('artifacts');
    expect(tasks[2]).toMatchObject({ artifacts: [{ artifactId: 'echo' }] });
  });
});

describe('a task that does not fit into a reply', () => {
  it('comes without its oldest messages, also if all history was asked for [R-GET-02]', async () => {
    const server = serve(echo);
    const { id: taskId } = await send(server, `?first${small}`);
    for (let n = 0; n < 5; n++) await send(server, `?${n}${small}`, { taskId });
    for (const historyLength of [undefined, 100]) {
      const task = await rpc(server, 'GetTask', { id: taskId, historyLength });
      const texts = task.history.map(
        ({ parts }: Task['history'] & { parts: { text: string }[] }) => parts[0]!.text,
      );
      expect(texts.at(-1)).toBe(`?4${small}`);
      expect(texts.some((text: string) => text.startsWith('?first'))).toBe(false);
      expect(JSON.stringify(task).length).toBeLessThan(replyBytes + 1_000);
      expect(task.metadata).toEqual({ [OMITTED]: ['history'] });
    }
    const [begun] = [await rpc(server, 'GetTask', { id: taskId, historyLength: 1 })];
    expect(begun.history).toHaveLength(1);
    expect(begun.metadata).toBeUndefined();
  });

  it.each(['GetTask', 'SendMessage', 'SendStreamingMessage', 'SubscribeToTask', 'CancelTask'])(
    'comes without its artifacts in the answer to %s',
    async (operation) => {
      const server = serve(async function* ({ text }) {
        yield artifact({ artifactId: 'echo' }, large);
        yield text === 'on' ? completed() : inputRequired('And?');
      });
      const first = await send(server, 'go');
      const { id } = first;
      const more = { message: say('on', { taskId: id }) };
      const next = async (params: object) => {
        const events = stream(server, operation, params);
        const { value } = await events.next();
        await events.return(undefined);
        return value?.event && 'task' in value.event ? value.event.task : undefined;
      };
      const task: Task =
        operation === 'SendMessage'
          ? (await rpc(server, operation, more)).task
          : operation === 'SendStreamingMessage'
            ? await next(more)
            : operation === 'SubscribeToTask'
              ? await next({ id })
              : await rpc(server, operation, { id });
      for (const shown of [first, task]) {
        expect(shown).toMatchObject({ id, metadata: { [OMITTED]: ['artifacts'] } });
        expect(shown.artifacts).toBeUndefined();
        expect(shown.history?.length).toBeGreaterThan(0);
      }
    },
  );
});

describe('an agent', () => {
  it('gets the newest tasks of its context that fit, and the first that a message refers to', async () => {
    const seen: { tasks: string[]; messages: number; references: References }[] = [];
    const server = serve(async function* ({ context, references, text }) {
      const [tasks, messages] = [await context.tasks(), await context.messages()];
      seen.push({
        tasks: tasks.map(({ id }) => id),
        messages: messages.length,
        references: await references(),
      });
      yield artifact({ artifactId: 'echo' }, text);
      yield completed();
    });
    const contextId = 'the-context';
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await send(server, small, { contextId })).id);
    await send(server, 'and now?', { contextId, referenceTaskIds: ids });
    const { tasks, messages, references } = seen.at(-1)!;
    expect(tasks).toEqual(ids.slice(-1));
    expect(messages).toBe(1);
    expect(references.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 1));
    expect(references.missing).toEqual(ids.slice(1));
  });
});
