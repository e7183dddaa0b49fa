import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { forkTask } from '@batonjs/operator';
import {
  type Agent,
  type AgentServerOptions,
  artifact,
  completed,
  createAgentServer,
  data,
  inputRequired,
  working,
} from '@batonjs/server';
import { scopeOf } from '@batonjs/server/internals';
import { memoryStore } from '@batonjs/store-memory';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { type Development, developmentMcp, NotRunning } from '../../src/internals.ts';

const shop: Agent = async function* ({ text, memory, step, idempotencyKey, callback }) {
  const room = memory.get<string>('room');
  if (text === 'wait') {
    yield working();
    return await new Promise<void>(() => {});
  }
  if (room === undefined) return yield { ...inputRequired('How many nights?'), memory: { room: text } };
  await idempotencyKey('pay');
  if (text === 'callback') return void (await callback({ name: 'paid', expiresMs: 60_000 }));
  await step('book', () => {
    if (text === 'none') throw new Error('There is no room left');
    return { nights: Number(text) };
  });
  yield artifact('booking', data({ room, nights: Number(text) }));
  yield completed();
};

/** An assistant, connected to an agent in development. */
async function assistant(parts: Partial<Development> = {}, options: Partial<AgentServerOptions> = {}) {
  const store = memoryStore();
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Hotel', description: 'Books rooms' },
      agent: shop,
      store,
      logger: () => {},
      push: { allow: ['localhost:*'] },
      callbacks: true,
      publicUrl: 'http://localhost',
      ...options,
    }),
  );
  const errors: unknown[] = [];
  const scope = scopeOf('agent', undefined, { scope: '' });
  const factory = developmentMcp({
    agent: () => connect('http://localhost', { fetch: server.fetch }),
    printed: () => ['first', 'last'],
    entries: async (taskId, after, limit) =>
      (await store.load(scope, taskId)) && (await store.readFacts(scope, taskId, after, limit)),
    fork: (taskId, { from, message }) =>
      forkTask({ store, name: 'agent' }, taskId, {
        from: /^\d+$/.test(from) ? Number(from) : from,
        by: 'test',
        ...(message && { message }),
      }),
    docs: () => undefined,
    onError: (error) => errors.push(error),
    ...parts,
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const mcp = factory({ era: 'legacy' });
  const client = new Client({ name: 'assistant', version: '1' });
  await Promise.all([mcp.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) => {
    const { content, isError } = await client.callTool({ name, arguments: args }, signal ? { signal } : {});
    const text = (content as { text?: string }[]).map((part) => part.text).join('\n');
    return { text, isError: isError ?? false, taskId: /^Task (\S+),/.exec(text)?.[1] };
  };
  return { client, call, server, errors };
}

it('an assistant sends, answers and looks at a task', async () => {
  const { client, call } = await assistant();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).join(' ')).toBe(
    'agent send answer list_tasks timeline fork cancel search_docs read_docs',
  );
  expect(tools.find(({ name }) => name === 'answer')?.inputSchema).toMatchObject({ required: ['taskId'] });
  expect((await call('agent', { lines: 1 })).text).toMatch(
    /^The agent runs at http:\/\/localhost\n\nCard: .*"Hotel".*\n\nIt printed:\nlast$/,
  );
  const asking = await call('send', { message: 'Rome' });
  expect(asking.text).toMatch(/TASK_STATE_INPUT_REQUIRED\nIt says: How many nights\?\nCall answer/);
  const { taskId } = asking;
  const done = await call('answer', { taskId, answer: '2' });
  expect(done.text).toContain(
    'TASK_STATE_COMPLETED\nArtifacts, which follow: booking\n{"room":"Rome","nights":2}',
  );
  const { text } = await call('timeline', { taskId });
  expect(text).toMatch(/^#1 \S+Z message-received .*\n#2 \S+Z task-created/);
  expect(text).toMatch(/memory-changed \{"changes":\{"room":"Rome"\}\}/);
  expect(text).toMatch(/step-completed \{"turn":2,"name":"book","result":\{"nights":2\}\}/);
  expect((await call('timeline', { taskId, limit: 2 })).text).toMatch(/\nMore: call timeline with after 2$/);
  expect((await call('timeline', { taskId, after: 99 })).text).toBe('Nothing after position 99');
  expect((await call('list_tasks', { state: 'TASK_STATE_COMPLETED' })).text).toMatch(
    new RegExp(`^1 of 1 tasks\n${taskId} TASK_STATE_COMPLETED `),
  );
});

it('an assistant sees why an agent failed, and tries again from there with a fork', async () => {
  const { call, errors } = await assistant();
  const { taskId } = await call('send', { message: 'Rome' });
  const failed = await call('answer', { taskId, answer: 'none' });
  expect(failed.text).toMatch(/TASK_STATE_FAILED .*\nIt says: The agent failed\nCall timeline/);
  const { text } = await call('timeline', { taskId });
  expect(text).toMatch(/turn-failed .*There is no room left.*shop/);
  const position = /^#(\d+) .* memory-changed/m.exec(text)?.[1];
  // The fork may ask before it is followed: the call ends all the same.
  const forked = await call('fork', { taskId, from: 'start', message: 'Paris', waitSeconds: 3_600 });
  expect(forked.text).toMatch(/^Task (?!undefined).*TASK_STATE_INPUT_REQUIRED/);
  expect(forked.taskId).not.toBe(taskId);
  expect((await call('fork', { taskId, from: 'pay' })).isError).toBe(true);
  expect(position).toBeDefined();
  expect(errors).toEqual([]);
});

it('a wait that is over, or is broken off, leaves the task running, which can be canceled', async () => {
  const { call, server } = await assistant();
  const started = await call('send', { message: 'wait', waitSeconds: 0.2 });
  expect(started.text).toMatch(/TASK_STATE_(SUBMITTED|WORKING)\n/);
  const leaving = new AbortController();
  const left = call('send', { message: 'wait', waitSeconds: 60 }, leaving.signal);
  await expect.poll(async () => (await call('list_tasks')).text).toMatch(/^2 of 2 tasks/);
  leaving.abort();
  await expect(left).rejects.toThrow();
  expect((await call('list_tasks', { state: 'TASK_STATE_CANCELED' })).text).toBe('0 of 0 tasks');
  expect((await call('cancel', { taskId: started.taskId })).text).toContain('TASK_STATE_CANCELED');
  // A server that closes in the middle answers the calls that wait.
  const waiting = call('send', { message: 'wait', waitSeconds: 60 });
  await expect.poll(async () => (await call('list_tasks')).text).toMatch(/^3 of 3 tasks/);
  await server.close({ graceMs: 0 });
  expect(await waiting).toMatchObject({ text: expect.stringContaining('TASK_STATE_FAILED') });
});

it('a timeline has no secrets', async () => {
  const secrets: string[] = [];
  const { call } = await assistant(
    {},
    {
      agent: async function* (turn) {
        secrets.push(
          new URL((await turn.callback({ name: 'paid', expiresMs: 60_000 })).url).pathname.split('/').at(-1)!,
        );
        secrets.push(await turn.idempotencyKey('pay'));
        yield completed();
      },
    },
  );
  const { taskId } = await call('send', { message: 'x' });
  const { text } = await call('timeline', { taskId });
  expect(text).toMatch(/step-completed \{"turn":1,"name":"@batonjs\/idempotency-keys"\}/);
  expect(text).toContain('callback-opened {"name":"paid"');
  expect(text).not.toContain('secretHash');
  expect(secrets).toHaveLength(2);
  for (const secret of secrets) expect(text).not.toContain(secret);
});

it('wrong arguments, an unknown task and an agent that does not run are one sentence', async () => {
  const { call, client } = await assistant({
    agent: async () => {
      throw new NotRunning('The agent did not start. It printed:\nSyntaxError');
    },
  });
  const wrong = async (name: string, args: Record<string, unknown>) => {
    const { text, isError } = await call(name, args);
    expect(isError).toBe(true);
    return text;
  };
  expect(await wrong('send', {})).toBe('Give a message, data, or both');
  expect(await wrong('answer', { taskId: 't' })).toBe('Give an answer in words, or values');
  expect(await wrong('answer', { taskId: 't', answer: 'a', values: {} })).toBe(
    'Give an answer in words, or values',
  );
  expect(await wrong('send', { message: 'a', color: 'red' })).toContain('color');
  expect(await wrong('list_tasks', { state: 'done' })).toContain('state');
  expect(await wrong('timeline', { taskId: 'none' })).toBe(
    'There is no task none: list_tasks has those that there are',
  );
  expect(await wrong('send', { message: 'a' })).toBe('The agent did not start. It printed:\nSyntaxError');
  expect(await wrong('search_docs', { query: 'step' })).toContain('The documentation is not installed');
  await expect(client.callTool({ name: 'delete', arguments: {} })).rejects.toThrow('Unknown tool: delete');
});

it('the documentation is searched and read, and nothing outside of it', async () => {
  const folder = temporaryFolder();
  const docs = join(folder, 'docs');
  mkdirSync(join(docs, 'agents'), { recursive: true });
  writeFileSync(join(folder, 'secret.md'), 'secret');
  writeFileSync(join(docs, 'README.md'), '# All\n\nsteps questions');
  writeFileSync(
    join(docs, 'agents/steps.md'),
    '# Steps\n\nA step keeps a result.\n\n## Test it\n\nrunTurn has steps.',
  );
  writeFileSync(
    join(docs, 'agents/questions.md'),
    '# Questions\n\n`inputRequired` asks. See [steps](steps.md).',
  );
  let isInstalled = false;
  const { call } = await assistant({ docs: () => (isInstalled ? docs : undefined) });
  expect((await call('read_docs', { page: 'README.md' })).isError).toBe(true);
  isInstalled = true;
  const found = async (query: string) =>
    (await call('search_docs', { query })).text.split('\n').filter((line) => !line.startsWith(' '));
  expect((await found('keep the result of a step'))[0]).toBe('agents/steps.md: Steps');
  expect((await found('testing with runTurn'))[0]).toBe('agents/steps.md: Steps: Test it');
  expect(await found('how to ask for required input')).toEqual(['agents/questions.md: Questions']);
  expect(await found('zebra')).toEqual([
    'Nothing is found. read_docs with the page README.md lists all pages',
  ]);
  expect((await call('read_docs', { page: 'agents/steps.md' })).text).toMatch(/^# Steps/);
  for (const page of ['../secret.md', '/etc/passwd', 'agents/../../secret.md'])
    expect(await call('read_docs', { page })).toMatchObject({
      isError: true,
      text: `There is no page ${page}. The pages are:\nREADME.md\nagents/questions.md\nagents/steps.md`,
    });
});
