import type { DatabaseSync } from 'node:sqlite';
import { type Agent, completed, inputRequired, reply, type Task, textOf } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished, vi } from 'vitest';
import { rpc } from '../../../../test/kit/rpc.ts';
import { type ServeOptions, serve } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { type DrainOptions, drainSubmissions, type SubmitOptions, submit } from '../../src/index.ts';
import { type SqliteFile, sqliteFile, withEnding } from '../sqlite-file.ts';

const echo: Agent = async function* ({ text, caller, metadata }) {
  yield completed(JSON.stringify({ text, caller, metadata }));
};

/** A server that gets the submissions of a file, on demand only, until the test ends. */
function draining(
  file: Pick<SqliteFile, 'database'>,
  agent = echo,
  options: ServeOptions & DrainOptions = {},
) {
  const { pollMs = 1e8, ...others } = options;
  const server = serve(agent, others);
  const drain = drainSubmissions(server, file.database, { pollMs });
  onTestFinished(() => drain.close());
  return { server, drain };
}

/** Submits in a transaction of its own. */
const submitAlone = (
  { database }: SqliteFile,
  message: Parameters<typeof submit>[2],
  options?: SubmitOptions,
) => database.driver.transaction((tx: DatabaseSync) => submit(database, tx, message, options));

const waiting = ({ column }: SqliteFile) => column('select seq from baton_submissions');
const said = (task: Task) => JSON.parse(textOf(task.status.message));

it('makes a task of a transaction that commits, with the id that it said', async () => {
  const file = sqliteFile();
  const { server, drain } = draining(file);
  const { taskId, messageId } = await submitAlone(file, 'order 7', { metadata: { a: 1 } });
  await drain.look();
  const task = await until(server, taskId, 'COMPLETED');
  expect(said(task)).toEqual({ text: 'order 7', caller: {}, metadata: { a: 1 } });
  expect(task.history?.at(0)?.messageId).toBe(messageId);
  expect(waiting(file)).toEqual([]);
});

it('makes none of one that is rolled back', async () => {
  const file = sqliteFile();
  const { server, drain } = draining(file);
  const rolledBack = file.database.driver.transaction(async (tx) => {
    await submit(file.database, tx, 'order 7');
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  await drain.look();
  expect((await rpc(server, 'ListTasks', {})).tasks).toEqual([]);
});

it('sends again what a process that died had sent, and the server recognises it', async () => {
  const file = sqliteFile();
  const run = vi.fn(echo);
  const store = memoryStore();
  let commits = 0;
  const dying = withEnding(file.database, async ({ commit }) => {
    // The first one claims, the second one would delete the row.
    if (++commits === 2) throw new Error('killed');
    await commit();
  });
  const { taskId } = await submitAlone(file, 'order 7');
  const first = draining({ database: dying }, run, { store });
  await first.drain.look();
  await until(first.server, taskId, 'COMPLETED');
  await first.drain.close();
  expect(waiting(file)).toHaveLength(1);
  file.connection.exec('update baton_submissions set due = 0');
  const second = draining(file, run, { store });
  await second.drain.look();
  expect(waiting(file)).toEqual([]);
  expect(run).toHaveBeenCalledTimes(1);
});

it('leaves alone what another process has claimed, until its time is over', async () => {
  const file = sqliteFile();
  const held = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  let commits = 0;
  const slow = withEnding(file.database, async ({ commit }) => {
    await commit();
    if (++commits > 1) return;
    claimed.resolve();
    await held.promise;
  });
  await submitAlone(file, 'order 7');
  const run = vi.fn(echo);
  const { drain } = draining({ database: slow }, run);
  await claimed.promise;
  const other = draining(file, run, { name: 'agent' });
  await other.drain.look();
  expect(run).not.toHaveBeenCalled();
  const [left] = file.column("select due - (julianday('now') - 2440587.5) * 86400000 from baton_submissions");
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(30_000);
  held.resolve();
  await drain.look();
  expect(run).toHaveBeenCalledTimes(1);
});

it('sends in the name of the caller, with its claims, into its tenant', async () => {
  const file = sqliteFile();
  const authenticate = (request: { headers: Record<string, string | undefined> }) => ({
    scope: request.headers.authorization ?? 'nobody',
  });
  const card = { name: 'Orders', description: 'For tests', tenants: ['acme'] };
  const { server, drain } = draining(file, echo, { authenticate, card } as never);
  const caller = { scope: 'ann', claims: { name: 'Ann' } };
  const { taskId } = await submitAlone(file, 'order 7', { caller, tenant: 'acme' });
  await drain.look();
  const found = async (authorization: string, tenant: string) =>
    await rpc(server, 'GetTask', { id: taskId, tenant }, { authorization }).catch(() => undefined);
  const task = await eventually(async () => {
    const task = await found('ann', 'acme');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    return task;
  });
  expect(said(task).caller).toEqual({ scope: 'ann', name: 'Ann' });
  expect(await found('bob', 'acme')).toBeUndefined();
});

it('keeps what the server refuses, with the reason, and goes on with the rest', async () => {
  const file = sqliteFile();
  const lines: unknown[] = [];
  const logger = (level: string, message: string, details: object) =>
    void lines.push([level, message, details]);
  const { server, drain } = draining(file, echo, { logger });
  await submitAlone(file, { parts: [{ text: 'and' }], taskId: 'missing', messageId: 'm1' });
  const { taskId } = await submitAlone(file, 'order 7');
  await drain.look();
  await until(server, taskId, 'COMPLETED');
  expect(file.column('select error from baton_submissions')).toEqual(['TASK_NOT_FOUND: Task not found']);
  expect(lines).toMatchObject([
    [
      'error',
      'A submission was refused',
      { messageId: 'm1', taskId: 'missing', err: { reason: 'TASK_NOT_FOUND' } },
    ],
  ]);
  await drain.look();
  expect(lines).toHaveLength(1);
});

it('sends those of a task in order, also where one of them has to wait', async () => {
  const file = sqliteFile();
  const agent: Agent = async function* ({ text }) {
    yield text === 'end' ? completed(text) : inputRequired('more?');
  };
  const { taskId } = await submitAlone(file, 'begin');
  await submitAlone(file, { parts: [{ text: 'more' }], taskId });
  await submitAlone(file, { parts: [{ text: 'end' }], taskId });
  file.connection.exec('update baton_submissions set due = due + 1e6 where seq = 1');
  const { server, drain } = draining(file, agent);
  await drain.look();
  expect(waiting(file)).toHaveLength(3);
  file.connection.exec('update baton_submissions set due = 0');
  await drain.look();
  const task = await until(server, taskId, 'COMPLETED');
  const texts = task.history?.filter(({ role }) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  expect(texts).toEqual([{ text: 'begin' }, { text: 'more' }, { text: 'end' }]);
});

it('sends again later what the server cannot take now', async () => {
  const file = sqliteFile();
  const lines: unknown[] = [];
  const { drain } = draining(
    file,
    async function* () {
      yield inputRequired('more?');
    },
    {
      authenticate: () => ({ scope: 'ann' }),
      limits: { callers: { unfinishedTasks: 1 } },
      logger: (_, message) => void lines.push(message),
    },
  );
  await submitAlone(file, 'one', { caller: { scope: 'ann' } });
  await drain.look();
  await submitAlone(file, 'two', { caller: { scope: 'ann' } });
  await drain.look();
  expect(file.column('select tries from baton_submissions')).toEqual([1]);
  expect(file.column('select error from baton_submissions')).toEqual([null]);
  const [pause] = file.column(
    "select due - (julianday('now') - 2440587.5) * 86400000 from baton_submissions",
  );
  expect(pause).toBeLessThanOrEqual(500);
  expect(lines).toEqual([]);
});

it('makes its pauses longer, a minute at most', async () => {
  const file = sqliteFile();
  const store = memoryStore();
  const { drain } = draining(file, echo, { store });
  await submitAlone(file, 'one');
  const commit = vi.spyOn(store, 'commit').mockRejectedValue(new Error('down'));
  const pauses: number[] = [];
  for (const tries of [0, 1, 4, 9, 40]) {
    file.connection.exec(`update baton_submissions set due = 0, tries = ${tries}`);
    await drain.look();
    const [pause] = file.column(
      "select due - (julianday('now') - 2440587.5) * 86400000 from baton_submissions",
    );
    pauses.push(pause as number);
  }
  commit.mockRestore();
  for (const [n, most] of [500, 1_000, 8_000, 60_000, 60_000].entries()) {
    expect(pauses[n]).toBeLessThanOrEqual(most);
    expect(pauses[n]).toBeGreaterThan(most / 2);
  }
});

it('refuses what is no message, in the transaction', async () => {
  const file = sqliteFile();
  await expect(submitAlone(file, { parts: [{ txt: 'typo' }] } as never)).rejects.toMatchObject({
    reason: 'INVALID_PARAMS',
  });
});

it('leaves to other agents what is theirs', async () => {
  const file = sqliteFile();
  const { drain } = draining(file);
  await submitAlone(file, 'order 7', { agent: 'other' });
  await drain.look();
  expect(waiting(file)).toHaveLength(1);
});

it('answers a message of an agent that makes no tasks', async () => {
  const file = sqliteFile();
  const answered = vi.fn(() => reply('hello'));
  const { drain } = draining(file, answered);
  await submitAlone(file, 'hi');
  await drain.look();
  await vi.waitFor(() => expect(answered).toHaveBeenCalledTimes(1));
  expect(waiting(file)).toEqual([]);
});

it('ends with its server, and leaves the rest in the table', async () => {
  const file = sqliteFile();
  const entered = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let commits = 0;
  const slow = withEnding(file.database, async ({ commit }) => {
    await commit();
    if (++commits > 1) return;
    entered.resolve();
    await held.promise;
  });
  await submitAlone(file, 'order 7');
  const { server, drain } = draining({ database: slow });
  await entered.promise;
  const closing = server.close({ graceMs: 0 });
  held.resolve();
  await closing;
  await drain.close();
  expect(file.column('select due <= at + 60000 and error is null from baton_submissions')).toEqual([1]);
  // Another process need not wait for the claim to end.
  const other = draining(file);
  await other.drain.look();
  expect(waiting(file)).toEqual([]);
});

it('ends by itself, and at once with a server that is closed', async () => {
  const file = sqliteFile();
  const { server, drain } = draining(file);
  await drain.close();
  await submitAlone(file, 'order 7');
  await drain.look();
  expect(waiting(file)).toHaveLength(1);
  await server.close();
  await drainSubmissions(server, file.database).close();
  expect(waiting(file)).toHaveLength(1);
});

it('reads the table by itself, also after the database failed for a while', async () => {
  const file = sqliteFile();
  const lines: unknown[] = [];
  let failures = 3;
  const failing = withEnding(file.database, async ({ commit }) => {
    if (failures-- > 0) throw new Error('down');
    await commit();
  });
  draining({ database: failing }, echo, {
    pollMs: 5,
    logger: (level, message, { err }) => void lines.push([level, message, String(err)]),
  });
  await submitAlone(file, 'order 7');
  await eventually(() => expect(waiting(file)).toEqual([]));
  expect(lines).toEqual([['error', 'The submissions of the database cannot be read', 'Error: down']]);
});

it('sends more than fit into one round, each once, by several processes', async () => {
  const file = sqliteFile();
  const run = vi.fn(echo);
  const store = memoryStore();
  for (let n = 0; n < 50; n++) await submitAlone(file, `order ${n}`);
  const drains = [file, sqliteFile(file.path)].map((each) => draining(each, run, { store }));
  await Promise.all(drains.map(({ drain }) => drain.look()));
  await eventually(() => expect(waiting(file)).toEqual([]));
  expect(run).toHaveBeenCalledTimes(50);
});

it('refuses what it cannot work with', async () => {
  const { database } = sqliteFile();
  const server = serve(echo);
  expect(() => drainSubmissions({ ...server }, database)).toThrow('one of `createAgentServer`');
  expect(() => drainSubmissions(server, database, { pollMs: 0 })).toThrow('`pollMs` must be more than 0');
  expect(() => drainSubmissions(server, { driver: database.driver, once: database.once } as never)).toThrow(
    'one of `@batonjs/transactions`',
  );
});
