import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { completed, createAgentServer, reply, working } from '@batonjs/server';
import { scopeOf } from '@batonjs/server/internals';
import { recurring } from '@batonjs/server/schedules';
import { listen as serveAt } from '@batonjs/server-node';
import { postgresStore } from '@batonjs/store-postgres';
import { sqliteStore } from '@batonjs/store-sqlite';
import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { readText } from '../../../test/repository/source-files.ts';
import { canStartPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { canStart, startRedis } from '../../../test/support/redis.ts';
import { postgresIndexes } from '../src/deployment/store-checks.ts';
import { serveMany } from './agents.ts';
import { cli, fieldOf } from './cli.ts';
import { usedStore } from './used-store.ts';

/** A file with one ended task and one at work, that another process still has open. */
async function usedFile(): Promise<string> {
  const { file, server } = usedStore({
    agent: async function* (turn) {
      if (turn.text === 'hello') return yield completed();
      yield working();
      await untilAborted(turn.signal);
    },
  });
  const { url, close } = await serveAt(server, { port: 0 });
  onTestFinished(() => close({ graceMs: 0 }));
  await cli(`send -a ${url} hello`);
  await cli(`send -a ${url} --async endless`);
  return file;
}

describe('tasks --store', () => {
  it('lists the tasks of an agent by state, of a store that is in use', async () => {
    const file = await usedFile();
    const { json } = await cli(`tasks --store sqlite:${file} --agent used -o json`);
    expect(json).toMatchObject({
      totalSize: 2,
      waiting: 0,
      tasks: [{ status: { state: expect.any(String) } }, {}],
    });
    const working = await cli(`tasks --store ${file} --agent used --state working`);
    expect(fieldOf(working.stdout, 'State')).toBe('TASK_STATE_WORKING');
    expect(fieldOf(working.stdout, 'Tasks')).toBe('1');
    expect((await cli(`tasks --store ${file} --agent used -o json --stream`)).lines).toHaveLength(2);
    expect((await cli(`tasks --store ${file} --agent other -o json`)).json.totalSize).toBe(0);
  });

  it('names the agents that the store has, where the one that is asked for has none', async () => {
    const file = join(temporaryFolder(), 'several.db');
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    for (const [name, card] of [
      ['tailor', 'The tailor'],
      ['baker', 'The baker'],
    ] as const)
      closedAfterTest(
        createAgentServer({
          name,
          card: { name: card, description: 'For tests' },
          store,
          logger: () => {},
          agent: () => reply('Hello'),
        }),
      );
    const named = 'Agent: baker (The baker)\nAgent: tailor (The tailor)\n';
    await eventually(async () => {
      expect((await cli(`tasks --store ${file}`)).stdout).toBe(`Tasks: 0\nWaiting: 0\n${named}`);
    });
    expect(await cli(`tasks --store ${file} --agent smith`)).toMatchObject({
      code: 0,
      stdout: `Tasks: 0\nWaiting: 0\n${named}`,
      stderr: 'No agent called "smith" has worked on this store: --agent takes the `name` of one that has\n',
    });
    expect((await cli(`tasks --store ${file} -o json`)).json).toMatchObject({
      totalSize: 0,
      agents: [
        { name: 'baker', cards: ['The baker'] },
        { name: 'tailor', cards: ['The tailor'] },
      ],
    });
    expect((await cli(`tasks --store ${file} --agent baker`)).stdout).toBe('Tasks: 0\nWaiting: 0\n');
  });

  it('makes no store where there is none, and shows no password', async () => {
    const missing = await cli('tasks --store sqlite:/dev/null/such.db -o json');
    expect(missing).toMatchObject({ code: 3, json: { error: { code: 'A2ACLI_ERR_UNREACHABLE' } } });
    const wrong = await cli('tasks --store mysql://user:s3cret@host/db');
    expect([wrong.code, wrong.stderr.includes('s3cret')]).toEqual([2, false]);
    const gone = await cli('tasks --store redis://:s3cret@127.0.0.1:1');
    expect([gone.code, gone.stderr.includes('s3cret')]).toEqual([3, false]);
  });
});

const resultOf = (findings: readonly { check: string; result: string; note: string }[], check: string) =>
  findings.find((each) => each.check === check);

describe('turns that are pinned to a version', () => {
  it('are found by the doctor while no process runs it, and go on anywhere once they are released', async () => {
    const file = join(temporaryFolder(), 'tasks.db');
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    const serve = (version: string) =>
      createAgentServer({
        card: { name: 'Used', description: 'Is used' },
        name: 'used',
        store,
        version: { name: version, deploys: 'pinned' },
        restart: 'rerun',
        logger: () => {},
        agent: async function* ({ signal }) {
          yield working();
          if (version === '1') await untilAborted(signal);
          yield completed(`by ${version}`);
        },
      });
    const old = serve('1');
    const { url, close } = await serveAt(old, { port: 0 });
    const { id } = (await cli(`send -a ${url} --async endless -o json`)).json.task;
    const other = (await cli(`send -a ${url} --async endless -o json`)).json.task.id;
    await eventually(() => expect(old.load.turns).toBe(2));
    await close({ graceMs: 0 });
    const doctor = async () => (await cli(`doctor --store ${file} --agent used -o json`)).json.findings;
    const check = 'turns of versions that no process runs';
    await eventually(async () =>
      expect(resultOf(await doctor(), check)).toMatchObject({
        note: expect.stringMatching(`^2 of 1: .*${id}`),
      }),
    );
    const release = `tasks --store ${file} --agent used release --of 1`;
    const alone = await cli(release);
    expect([alone.code, alone.stderr]).toEqual([
      2,
      expect.stringContaining('Release 2 tasks? Nothing was done'),
    ]);
    const refused = await cli(release, { isTTY: true, stdin: 'n\n' });
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(resultOf(await doctor(), check)).toMatchObject({ note: expect.stringContaining(other) });
    const none = await cli(`tasks --store ${file} --agent used release --of 2 -o json`);
    expect([none.code, none.stdout.includes('0')]).toEqual([0, true]);
    expect(fieldOf((await cli(`${release} --yes`)).stdout, 'Released')).toBe('2');
    expect(await doctor()).toContainEqual({ check, result: 'ok', note: 'none' });
    const next = closedAfterTest(serve('2'));
    const { url: later, close: closeOther } = await serveAt(next, { port: 0 });
    onTestFinished(() => closeOther({ graceMs: 0 }));
    expect((await cli(`task get -a ${later} ${id} --wait --poll-interval 20ms`)).stdout).toContain('by 2');
    expect((await cli(`tasks --store ${file} release`)).code).toBe(2);
  });
});

describe('schedules --store', () => {
  it('lists recurring tasks, which the doctor finds overdue until they are forgotten', async () => {
    const file = join(temporaryFolder(), 'tasks.db');
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    // A server whose clock is behind by two minutes: the store remembers its schedules, and none of their times is over.
    const late = { now: () => Date.now() - 120_000 };
    const tasks = [{ name: 'tick', cron: '* * * * *', message: 'Tick' }];
    const options = { name: 'used', store, clock: late, logger: () => {}, agent: () => reply('Hello') };
    const server = createAgentServer({
      ...options,
      card: { name: 'Used', description: 'Is used' },
      schedules: recurring([
        ...tasks,
        { name: 'rare', cron: '@yearly', timezone: 'Europe/Paris', message: 'Hi' },
      ]),
    });
    const list = async () => (await cli(`schedules --store ${file} --agent used -o json`)).json.schedules;
    await eventually(async () => expect(await list()).toHaveLength(2));
    await server.close();
    expect(await list()).toMatchObject([
      { name: 'rare', cron: '@yearly', timezone: 'Europe/Paris', isOverdue: false },
      { name: 'tick', missed: 'last', isOverdue: true, nextAt: expect.stringMatching(/:00.000Z$/) },
    ]);
    const { stdout } = await cli(`schedules --store ${file} --agent used`);
    expect([fieldOf(stdout, 'Schedule'), fieldOf(stdout, 'Schedules')]).toEqual(['rare', '2']);
    expect(fieldOf(stdout, 'Overdue since')).toBeDefined();
    const doctor = async () => (await cli(`doctor --store ${file} --agent used`)).stdout;
    expect(await doctor()).toMatch(/^Problem: recurring tasks that no process starts: tick since /m);
    const forgotten = await cli(`schedules --store ${file} --agent used forget tick`);
    expect(fieldOf(forgotten.stdout, 'Forgotten')).toBe('tick');
    expect(await doctor()).toContain('Ok: recurring tasks that no process starts: none');
    const again = await cli(`schedules --store ${file} --agent used forget tick`);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('has no schedule "tick"')]);
  });
});

it('callbacks rotate-key makes another key for a store', async () => {
  const { file, store } = usedStore({ agent: () => reply('Hello') });
  const keys = async () => Object((await store.getRecord('callback-keys'))?.value).keys;
  const rotate = () => cli(`callbacks rotate-key --store ${file}`);
  expect(fieldOf((await rotate()).stdout, 'Rotated')).toBe('true');
  const [first] = await keys();
  await rotate();
  const [second, ...before] = await keys();
  expect([second, before]).toEqual([expect.any(String), [first]]);
  expect(second).not.toBe(first);
});

describe('doctor', () => {
  it('finds nothing wrong with a file and an agent that are well', async () => {
    const file = await usedFile();
    const { json, code } = await cli(`doctor --store ${file} --agent used -a ${await serveMany()} -o json`);
    expect(json.findings.filter(({ result }: { result: string }) => result === 'problem')).toEqual([]);
    expect([code, json.problems]).toEqual([0, 0]);
    for (const check of [
      'store is reachable',
      'indexes',
      'stuck tasks',
      'agent answers',
      'clock of the agent',
    ])
      expect(resultOf(json.findings, check)).toMatchObject({ result: 'ok' });
  });

  it('finds tasks that are stuck and an index that is missing, and ends with 1', async () => {
    const file = await usedFile();
    const database = new DatabaseSync(file);
    database.exec('DROP INDEX tasks_by_context');
    database.close();
    // The task may have changed in this very millisecond.
    const stdout = await eventually(async () => {
      const ran = await cli(`doctor --store ${file} --agent used --stuck-after 1ms`);
      expect(ran).toMatchObject({ code: 1, stdout: expect.stringContaining('Problem: stuck tasks') });
      return ran.stdout;
    });
    expect(stdout).toContain('Problem: indexes: missing: tasks_by_context');
    expect(stdout).toMatch(/^Problem: stuck tasks: 1 at work without a change: /m);
    expect(fieldOf(stdout, 'Problems')).toBe('2');
    expect((await cli('doctor')).code).toBe(2);
  });

  it('finds tasks that no run has come for, and says when the last one came', async () => {
    const file = join(temporaryFolder(), 'due.db');
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    const server = closedAfterTest(
      createAgentServer({
        name: 'due',
        card: { name: 'Due', description: 'For tests' },
        store,
        run: 'due',
        restart: 'rerun',
        logger: () => {},
        async *agent() {
          yield completed();
        },
      }),
    );
    const found = async (stuckAfter: string) =>
      resultOf(
        (await cli(`doctor --store ${file} --agent due --stuck-after ${stuckAfter} -o json`)).json.findings,
        'tasks that wait for a process',
      );
    const send = () =>
      rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } });
    await send();
    expect(await found('1h')).toMatchObject({ result: 'ok', note: '1' });
    const late = (run: string) =>
      eventually(async () =>
        expect(await found('1ms')).toMatchObject({ result: 'problem', note: expect.stringContaining(run) }),
      );
    await late('no run of `runDue` is known');
    await server.runDue({ forMs: 5_000 });
    expect(await found('1ms')).toMatchObject({ result: 'ok', note: '0' });
    await send();
    await late(`the last run with something to do began at ${new Date().toISOString().slice(0, 13)}`);
  });

  it('finds webhooks that were given up, of which it names five', async () => {
    const file = await usedFile();
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    const scope = scopeOf('used', undefined, { scope: '' });
    const { tasks } = await store.list(scope, { limit: 1 });
    const { taskId } = tasks[0]!;
    // The queue of no server: nothing else takes them.
    const queue = 'abandoned';
    const giveUp = async (id: string) => {
      const config = { id, taskId, url: 'https://example.com/hook' };
      await store.putPushConfig({ scope, taskId, id, config, protocolVersion: '1.0', queue, cursor: 0 });
      const [delivery] = await store.claimDeliveries({ queue, holder: id, ttlMs: 60_000, limit: 1 });
      expect(await store.advance(delivery!, { dead: 'It answered 410' })).toBe(true);
    };
    const run = () => cli(`doctor --store ${file} --agent ${queue}`);
    for (let n = 1; n <= 5; n += 1) await giveUp(`w${n}`);
    const five = Array(5).fill(taskId).join(', ');
    expect(await run()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`\nProblem: undelivered webhooks: 5 given up: ${five}\n`),
    });
    await giveUp('w6');
    expect((await run()).stdout).toContain(`\nProblem: undelivered webhooks: 6 given up: ${five} …\n`);
  });

  it('knows the indexes that the adapter for PostgreSQL makes', () => {
    const schema = readText('packages/store-postgres/src/database/schema.ts');
    const dropped = new Set(
      [...schema.matchAll(/DROP INDEX (?:IF EXISTS )?\S*\.(\w+)/g)].map(([, name]) => name),
    );
    const made = [...schema.matchAll(/CREATE INDEX (\w+)/g)].map(([, name]) => name);
    expect([...postgresIndexes].sort()).toEqual(made.filter((name) => !dropped.has(name)).sort());
  });
});

describe.skipIf(!(await canStart()))('doctor on Redis', () => {
  it.each([
    ['noeviction', 'Ok', 0],
    ['allkeys-lru', 'Problem', 1],
  ])('reads the policy %s, and compares clocks', async (policy, word, code) => {
    const server = await startRedis({ args: ['--maxmemory', '100mb', '--maxmemory-policy', policy] });
    onTestFinished(() => server.stop());
    const ran = await cli(`doctor --store ${server.url}`);
    expect(ran.stdout).toContain(`${word}: eviction policy: maxmemory-policy is ${policy}`);
    expect(ran.stdout).toMatch(/^Ok: clock of the store: -?\d+m?s/m);
    expect(ran.stdout).toMatch(/^Ok: connections: [1-9]\d* of \d{3,} are open/m);
    expect(ran.code).toBe(code);
    // On a machine whose clock is an hour ahead.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const ahead = await cli(`doctor --store ${server.url}`);
    expect([ahead.stdout, ahead.code]).toEqual([
      expect.stringContaining('Problem: clock of the store: -'),
      1,
    ]);
  });
});

const postgres = (await canStartPostgres()) ? await startPostgres(['-c', 'fsync=off']) : undefined;

describe.skipIf(!postgres)('doctor on PostgreSQL', () => {
  afterAll(() => postgres?.stop());

  it('compares clocks, and finds an index that is missing', async () => {
    const store = postgresStore(postgres!.url);
    onTestFinished(() => store.close());
    await store.ping();
    await store.probe?.();
    const well = (await cli(`doctor --store ${postgres!.url} -o json`)).json;
    expect(well.problems).toBe(0);
    for (const check of ['clock of the store', 'connections', 'indexes'])
      expect(resultOf(well.findings, check)).toMatchObject({ result: 'ok' });
    expect((await cli(`tasks --store ${postgres!.url} -o json`)).json).toMatchObject({
      tasks: [],
      totalSize: 0,
    });
    const client = new pg.Client({ connectionString: postgres!.url });
    await client.connect();
    const { rows } = await client.query(
      "SELECT schemaname, indexdef FROM pg_indexes WHERE indexname = 'tasks_waiting'",
    );
    await client.query(`DROP INDEX "${rows[0].schemaname}".tasks_waiting`);
    const { stdout, code } = await cli(`doctor --store ${postgres!.url}`);
    await client.query(rows[0].indexdef);
    await client.end();
    expect(stdout).toContain('Problem: indexes: missing: tasks_waiting');
    expect(code).toBe(1);
  });

  it('finds that the index of words is missing, where they are searched', async () => {
    const store = postgresStore(postgres!.url, { schema: 'worded', textSearch: true });
    onTestFinished(() => store.close());
    await store.ping();
    const client = new pg.Client({ connectionString: postgres!.url });
    await client.connect();
    onTestFinished(async () => {
      await client.query('DROP SCHEMA worded CASCADE');
      await client.end();
    });
    const { rows } = await client.query("SELECT 1 FROM pg_indexes WHERE indexname = 'task_texts_by_word'");
    expect(rows).toHaveLength(1);
    await client.query('DROP INDEX worded.task_texts_by_word');
    const { stdout, code } = await cli(`doctor --store ${postgres!.url}`);
    expect(stdout).toContain('Problem: indexes: missing: task_texts_by_word');
    expect(code).toBe(1);
  });
});
