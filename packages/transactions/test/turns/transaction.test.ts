import type { DatabaseSync } from 'node:sqlite';
import { type Agent, completed, type Turn } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { runTurn } from '@batonjs/testing';
import { expect, it, vi } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { type SqlDatabase, TransactionError } from '../../src/index.ts';
import { type SqliteFile, sqliteFile, withEnding } from '../sqlite-file.ts';

const insert = (id: string) => (tx: DatabaseSync) => {
  tx.prepare('insert into effects values (?)').run(id);
  return { id };
};
const effects = ({ column }: SqliteFile) => column('select id from effects');
const configuration = { returnImmediately: true };
const never = new Promise<never>(() => {});

/** Runs an agent that does one thing with its turn. */
const inTurn = (act: (turn: Turn) => Promise<unknown>, options = {}) =>
  runTurn(
    async function* (turn) {
      yield completed(JSON.stringify(await act(turn)));
    },
    'go',
    options,
  );

it('is a step as well: a later attempt does not ask the database', async () => {
  const file = sqliteFile();
  const act = (turn: Turn) => turn.transaction('pay', file.database, insert('1'));
  const { steps } = await inTurn(act);
  expect(steps).toEqual({ pay: { id: '1' } });
  const once = vi.spyOn(file.database, 'once');
  await inTurn(act, { steps, attempt: 2 });
  expect(once).not.toHaveBeenCalled();
  once.mockRestore();
  expect(effects(file)).toEqual(['1']);
});

it('gives its result as JSON keeps it, in the first attempt too', async () => {
  const { database } = sqliteFile();
  const results: unknown[] = [];
  await inTurn(async (turn) => {
    results.push(await turn.transaction('date', database, () => new Date(0)));
    results.push(await turn.transaction('none', database, () => {}));
  });
  expect(results).toEqual(['1970-01-01T00:00:00.000Z', null]);
});

it('commits nothing where JSON cannot hold the result', async () => {
  const file = sqliteFile();
  const failing = inTurn((turn) =>
    turn.transaction('pay', file.database, (tx) => {
      insert('1')(tx);
      return { amount: 10n };
    }),
  );
  await expect(failing).rejects.toThrow('The result of the step "pay" is not JSON');
  expect(effects(file)).toEqual([]);
});

it('has its name among the steps, which are used once', async () => {
  const file = sqliteFile();
  const twice = inTurn(async (turn) => {
    await turn.transaction('pay', file.database, insert('1'));
    await turn.step('pay', () => 1);
  });
  await expect(twice).rejects.toThrow('The step "pay" was used in this turn already');
  const again = inTurn(async (turn) => {
    await turn.step('pay', () => 1);
    await turn.transaction('pay', file.database, insert('2'));
  });
  await expect(again).rejects.toThrow('The step "pay" was used in this turn already');
  expect(effects(file)).toEqual(['1']);
});

it('commits nothing once the turn is over, also while the function runs', async () => {
  const file = sqliteFile();
  const stop = new AbortController();
  const stopped = inTurn(
    (turn) =>
      turn.transaction('pay', file.database, async (tx) => {
        insert('1')(tx);
        stop.abort(new Error('over'));
      }),
    { signal: stop.signal },
  );
  await expect(stopped).rejects.toThrow('over');
  expect(effects(file)).toEqual([]);
});

it('runs two at once one after the other', async () => {
  const file = sqliteFile();
  await inTurn((turn) =>
    Promise.all(
      ['a', 'b', 'c'].map((id) => turn.transaction(id, file.database, async (tx) => insert(id)(tx))),
    ),
  );
  expect(effects(file)).toEqual(['a', 'b', 'c']);
});

/** A connection that reads, which holds up every commit of a file without a write-ahead log. */
function reading({ path }: SqliteFile): DatabaseSync {
  const { connection } = sqliteFile(path);
  connection.exec('begin; select * from effects');
  return connection;
}

it('waits with its commit until others have read, without holding up the process', async () => {
  const file = sqliteFile();
  const reader = reading(file);
  const exec = vi.spyOn(file.connection, 'exec');
  const paid = inTurn((turn) => turn.transaction('pay', file.database, insert('1')));
  await vi.waitFor(() => expect(exec.mock.calls.flat()).toContain('commit'));
  reader.exec('commit');
  await paid;
  exec.mockRestore();
  expect(effects(file)).toEqual(['1']);
});

it('rejects with the error of a commit that SQLite refuses', async () => {
  const file = sqliteFile();
  file.connection.exec(`pragma foreign_keys = on; create table parents (id text primary key);
create table children (parent text references parents deferrable initially deferred)`);
  const orphan = (tx: DatabaseSync) => tx.exec("insert into children values ('none')");
  const refused = inTurn((turn) => turn.transaction('pay', file.database, orphan));
  await expect(refused).rejects.toThrow('FOREIGN KEY constraint failed');
  await inTurn((turn) => turn.transaction('pay', file.database, insert('2')));
  expect(file.column('select * from children')).toEqual([]);
  expect(effects(file)).toEqual(['2']);
});

/** The turn with a database that commits and then fails `times` times. */
const failingAfterCommit = (database: SqlDatabase<DatabaseSync>, times: number) =>
  withEnding(database, async ({ commit }) => {
    await commit();
    if (times-- > 0) throw new Error('connection lost');
  });

it('finds out that a commit happened whose connection broke', async () => {
  const file = sqliteFile();
  const database = failingAfterCommit(file.database, 1);
  const { updates } = await inTurn((turn) => turn.transaction('pay', database, insert('1')));
  expect(updates).toMatchObject([{ status: { message: { parts: [{ text: '{"id":"1"}' }] } } }]);
  expect(effects(file)).toEqual(['1']);
});

it('needs no commit of its own where an earlier one recorded the result', async () => {
  const file = sqliteFile();
  const key = { scope: 's', taskId: 't', turn: '1', name: 'pay', fence: 1 };
  const { signal } = new AbortController();
  await file.database.once(key, async (tx) => insert('1')(tx), signal);
  const broken = withEnding(file.database, async ({ rollBack }) => {
    await rollBack();
    throw new Error('disk full');
  });
  expect(await broken.once(key, async (tx) => insert('2')(tx), signal)).toEqual({ id: '1' });
  expect(effects(file)).toEqual(['1']);
});

it('asks until the database answers', async () => {
  const file = sqliteFile();
  const database = failingAfterCommit(file.database, 3);
  await inTurn((turn) => turn.transaction('pay', database, insert('1')));
  expect(effects(file)).toEqual(['1']);
});

it('rejects with the error of a commit that did not happen', async () => {
  const file = sqliteFile();
  let isFirst = true;
  const database = withEnding(file.database, async ({ commit, rollBack }) => {
    if (!isFirst) return commit();
    isFirst = false;
    await rollBack();
    throw new Error('disk full');
  });
  await expect(inTurn((turn) => turn.transaction('pay', database, insert('1')))).rejects.toThrow('disk full');
  expect(effects(file)).toEqual([]);
});

it('says that the outcome is not known when the turn is over before the database answers', async () => {
  const file = sqliteFile();
  const stop = new AbortController();
  let asked = 0;
  const database = withEnding(file.database, async ({ commit }) => {
    await commit();
    if (++asked === 2) stop.abort(new Error('over'));
    throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });
  });
  const error = await inTurn((turn) => turn.transaction('pay', database, insert('1')), {
    signal: stop.signal,
  }).catch((error) => error);
  expect(TransactionError.is(error, 'OUTCOME_UNKNOWN')).toBe(true);
  expect(TransactionError.is(error, 'FENCED')).toBe(false);
  expect(error.cause).toMatchObject({ message: 'connection lost' });
});

it.each([
  { code: '40001' },
  { code: '40P01' },
  { code: '57P01' },
  { code: '08006' },
  { code: 'ECONNRESET' },
  { code: 'CONNECTION_CLOSED' },
  { code: 'CONNECT_TIMEOUT' },
  { code: 'P2034' },
  { message: 'Connection terminated unexpectedly' },
  { message: 'Failed query', cause: { code: '40001' } },
])('begins again where the database broke off: %j', async (broken) => {
  const file = sqliteFile();
  let tries = 0;
  await inTurn((turn) =>
    turn.transaction('pay', file.database, (tx) => {
      insert(`${++tries}`)(tx);
      if (tries < 3) throw Object.assign(new Error(), broken);
    }),
  );
  expect(effects(file)).toEqual(['3']);
});

it.each([
  { code: '23505' },
  { code: '57014' },
  { code: 'ENOTFOUND' },
  { message: 'The statement: Connection terminated' },
  { cause: { cause: { cause: { cause: { cause: { code: '40001' } } } } } },
])('does not begin again after other errors: %j', async (other) => {
  const file = sqliteFile();
  const fn = vi.fn(() => {
    throw Object.assign(new Error(), other);
  });
  await expect(inTurn((turn) => turn.transaction('pay', file.database, fn))).rejects.toMatchObject(other);
  expect(fn).toHaveBeenCalledTimes(1);
});

it('begins not again once the turn is over', async () => {
  const file = sqliteFile();
  const stop = new AbortController();
  const fn = vi.fn(() => {
    stop.abort(new Error('over'));
    throw Object.assign(new Error(), { code: '40001' });
  });
  const stopped = inTurn((turn) => turn.transaction('pay', file.database, fn), { signal: stop.signal });
  await expect(stopped).rejects.toThrow('over');
  expect(fn).toHaveBeenCalledTimes(1);
});

it('is committed once by a turn that is handed over in the middle', async () => {
  const store = memoryStore();
  const file = sqliteFile();
  const other = sqliteFile(file.path);
  const entered = Promise.withResolvers<void>();
  const attempts: number[] = [];
  const agent: Agent = async function* (turn) {
    const { database } = turn.attempt === 1 ? file : other;
    await turn.transaction('first', database, insert('first'));
    await turn.transaction('second', database, async (tx) => {
      attempts.push(turn.attempt);
      insert(`second ${turn.attempt}`)(tx);
      if (turn.attempt > 1) return;
      entered.resolve();
      await new Promise((_, reject) =>
        turn.signal.addEventListener('abort', () => reject(turn.signal.reason)),
      );
    });
    yield completed();
  };
  const first = serve(agent, { store, restart: 'rerun' });
  const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration });
  await entered.promise;
  await first.close({ graceMs: 0 });
  await until(serve(agent, { store, restart: 'rerun' }), task.id, 'COMPLETED');
  expect(attempts).toEqual([1, 2]);
  expect(effects(other)).toEqual(['first', 'second 2']);
});

it('is one for each turn of a task', async () => {
  const file = sqliteFile();
  const server = serve(async function* (turn) {
    await turn.transaction('pay', file.database, insert(turn.text));
    yield { status: { state: 'TASK_STATE_INPUT_REQUIRED' } };
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('one', { messageId: 'm1' }) });
  await rpc(server, 'SendMessage', { message: say('two', { messageId: 'm2', taskId: task.id }) });
  expect(effects(file)).toEqual(['one', 'two']);
  expect(file.column('select turn from baton_transactions')).toEqual(['1 m1', '2 m2']);
  expect(file.column('select scope from baton_transactions')).toEqual(['["agent","",""]', '["agent","",""]']);
});

it('says nothing of the database to clients', async () => {
  const file = sqliteFile();
  const lines: string[] = [];
  const database = withEnding(file.database, async () => {
    throw new Error('connect postgres://bank:hunter2@db.internal failed');
  });
  const server = serve(
    async function* (turn) {
      await turn.transaction('pay', database, insert('1'));
      yield completed();
    },
    { logger: (_, message, { err }) => void lines.push(`${message} ${err}`) },
  );
  const answer = JSON.stringify(await rpc(server, 'SendMessage', { message: say('go') }));
  expect(answer).toContain('The agent failed');
  expect(answer).not.toMatch(/hunter2|db\.internal/);
  expect(lines.join()).toContain('db.internal');
});

it('does not hold up a server that closes while the function does not end', async () => {
  const file = sqliteFile();
  const entered = Promise.withResolvers<void>();
  const server = serve(async function* (turn) {
    await turn.transaction('pay', file.database, () => {
      entered.resolve();
      return never;
    });
    yield completed();
  });
  await rpc(server, 'SendMessage', { message: say('go'), configuration });
  await entered.promise;
  await server.close({ graceMs: 0 });
});
