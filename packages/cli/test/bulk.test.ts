import { join } from 'node:path';
import { createAgentServer, failed, inputRequired, type Turn, working } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../test/kit/until.ts';
import { cli } from './cli.ts';
import { usedStore } from './used-store.ts';

/** A file with tasks that ask and tasks that failed, of each user, of a server that runs. */
async function shop(asking: number, failing: number, users: readonly string[] = ['']) {
  const { file, server } = usedStore({
    ...(users[0] !== '' && { authenticate: ({ headers }) => ({ scope: headers.user ?? '' }) }),
    agent: async function* ({ text }: Turn) {
      yield { ...working(), labels: [text] };
      yield text === 'asks' ? inputRequired('What?') : failed({ code: 'NO_FUNDS', message: 'No funds' });
    },
  });
  const texts = [
    ...Array.from({ length: asking }, () => 'asks'),
    ...Array.from({ length: failing }, () => 'fails'),
  ];
  for (const user of users)
    for (const text of texts) await rpc(server, 'SendMessage', { message: say(text) }, { user });
  const total = async (state: string, user = '') =>
    (await rpc(server, 'ListTasks', { status: `TASK_STATE_${state}` }, { user })).totalSize as number;
  return { file, total, tasks: (line: string) => cli(`tasks --store ${file} --agent used ${line}`) };
}

it('cancels, forks and deletes many tasks of a store, and remembers the runs', async () => {
  const { tasks, total } = await shop(12, 3);
  const dry = await tasks('cancel --label asks --dry-run -o json');
  expect(dry.json).toEqual({
    action: 'cancel',
    dryRun: true,
    total: 12,
    done: 12,
    skipped: 0,
    failed: 0,
    isOver: true,
  });
  expect(await total('CANCELED')).toBe(0);
  const canceled = await tasks('cancel --label asks --rate 1000/s --by ada --yes');
  expect([canceled.code, canceled.stdout]).toEqual([
    0,
    expect.stringMatching(/^Found: 12\nDone: 12\nSkipped: 0\nFailed: 0$/m),
  ]);
  await eventually(async () => expect(await total('CANCELED')).toBe(12));
  const forked = await tasks('fork --state failed --code NO_FUNDS -o json --stream --yes');
  expect(forked.lines.slice(0, -1).map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
  expect(forked.lines.at(-1)).toMatchObject({ action: 'fork', done: 3, isOver: true });
  await eventually(async () => expect(await total('FAILED')).toBe(6));
  expect((await tasks('delete --state failed --since 1h -o json --yes')).json).toMatchObject({ done: 6 });
  expect(await total('FAILED')).toBe(0);
  expect((await tasks('retry-webhooks --all -o json')).json).toMatchObject({ done: 0, skipped: 12 });
  const { json } = await tasks('runs -o json');
  expect(json.runs.map(({ action }: { action: string }) => action)).toEqual([
    'retry-webhooks',
    'delete',
    'fork',
    'cancel',
  ]);
  expect(json.runs.at(-1)).toMatchObject({ by: 'ada', labels: ['asks'], done: 12, isOver: true });
  expect((await tasks('runs')).stdout).toContain('Action: cancel, asked by ada');
});

it('does one thing to the tasks of several callers in one run', async () => {
  const { tasks, total } = await shop(2, 0, ['ada', 'bob', 'eve']);
  const canceled = await tasks('cancel --label asks --caller ada --caller bob -o json --yes');
  expect(canceled.json).toMatchObject({ total: 4, done: 4, isOver: true });
  await eventually(async () =>
    expect(await Promise.all(['ada', 'bob', 'eve'].map((user) => total('CANCELED', user)))).toEqual([
      2, 2, 0,
    ]),
  );
  expect((await tasks('runs -o json')).json.runs).toHaveLength(1);
  for (const line of ['', 'fork x', 'erase --all']) {
    const { code, stderr } = await tasks(`--caller ada --caller bob ${line}`);
    expect([line, code, stderr]).toEqual([line, 2, expect.stringContaining('--caller may be repeated only')]);
  }
});

it('goes on with a run that was interrupted', async () => {
  const { file, total, tasks } = await shop(40, 0);
  const stop = new AbortController();
  const line = `tasks --store ${file} --agent used cancel --all --rate 50/s -o json --stream --yes`;
  const interrupted = await cli(line, {
    signal: stop.signal,
    onWrite: (_, text) => {
      if (text.includes('outcome')) stop.abort();
    },
  });
  expect([interrupted.code, interrupted.lines.at(-1).isOver]).toEqual([1, false]);
  const { run, done } = interrupted.lines.at(-1);
  expect(interrupted.stderr).toContain(`give --resume ${run}`);
  expect(done).toBeLessThan(40);
  expect((await tasks(`cancel --resume ${run} -o json`)).json).toMatchObject({ run, isOver: true });
  await eventually(async () => expect(await total('CANCELED')).toBe(40));
});

it('says how to go on after a run that broke off', async () => {
  const { file, tasks } = await shop(3, 0);
  const broken = await cli(`tasks --store ${file} --agent used cancel --all --yes`, {
    onWrite: (_, text) => {
      if (text.startsWith('Run ')) throw new Error('Broken');
    },
  });
  const [, run] = /give --resume (\S+) to go on/.exec(broken.stderr) ?? [];
  expect([broken.code, (await tasks(`cancel --resume ${run} -o json`)).json.isOver]).toEqual([1, true]);
});

it.each([
  'cancel --all',
  'delete --state failed',
  'retry-webhooks --all',
  'fork --state failed',
  'erase --all',
])('ends `%s` with another code than 0 if it is told to end before it began', async (line) => {
  const { file } = await shop(1, 1);
  const signal = AbortSignal.abort(new Error('Interrupted'));
  expect((await cli(`tasks --store ${file} --agent used ${line} --yes`, { signal })).code).not.toBe(0);
});

it('refuses flags that say nothing, or contradict each other', async () => {
  const { tasks } = await shop(0, 1);
  const refused: [string, string][] = [
    ['cancel', 'Say which tasks'],
    ['cancel --all --label eu', 'contradict'],
    ['cancel --state failed --yes', 'no task in TASK_STATE_FAILED can get a cancel'],
    ['delete --all --rate 0/s', 'A rate is a number a second'],
    ['fork x --label eu', 'contradict'],
    ['fork --all --message tea', 'are for the fork of one task'],
    ['delete --resume none', 'There is no run none'],
    ['erase', 'Say which tasks'],
    ['erase x --all', 'Say which tasks'],
  ];
  for (const [line, message] of refused) {
    const { code, stderr } = await tasks(line);
    expect([line, code === 0, stderr]).toEqual([line, false, expect.stringContaining(message)]);
  }
});

it('asks before it changes more than one task, and does nothing where there is no terminal', async () => {
  const { file, tasks, total } = await shop(3, 2);
  const lines = ['cancel --label asks', 'delete --state failed', 'fork --state failed', 'erase --all'];
  const asked = (line: string, stdin: string) =>
    cli(`tasks --store ${file} --agent used ${line}`, { isTTY: true, stdin });
  for (const [at, line] of lines.entries()) {
    const question = ['Cancel 3 tasks?', 'Delete 2 tasks?', 'Fork 2 tasks?', 'Erase 5 tasks?'][at];
    const alone = await tasks(line);
    expect([line, alone.code, alone.stderr]).toEqual([
      line,
      2,
      expect.stringMatching(
        `^Error: \\${question}.*Nothing was done.*\n.*\nHint: Give --yes`.replace('\\', ''),
      ),
    ]);
    for (const no of ['n\n', '\n', '']) {
      const { code, stdout, stderr } = await asked(line, no);
      expect([code, stdout, stderr]).toEqual([1, '', `${question} [y/N] Nothing was done\n`]);
    }
  }
  expect(await Promise.all(['INPUT_REQUIRED', 'FAILED'].map((state) => total(state)))).toEqual([3, 2]);
  const foreseen = (await tasks('erase --all --dry-run -o json')).json;
  expect(foreseen).toMatchObject({
    dryRun: true,
    tasks: 5,
    webhooks: 0,
    left: [{}, {}, {}].map(() => expect.any(String)),
  });
  expect((await tasks('erase --all --dry-run')).stdout).toMatch(/^At work, would be canceled first: 3$/m);
  expect((await asked('delete --state failed', 'y\n')).code).toBe(0);
  expect(await total('FAILED')).toBe(0);
  // One task needs no question.
  const [{ id }] = (await tasks('-o json')).json.tasks;
  const dry = (await tasks(`erase ${id} --dry-run -o json`)).json;
  expect((await tasks(`erase ${id} -o json`)).json.tasks).toBe(dry.tasks);
});

it('erases tasks, those at work after a cancel', async () => {
  const { tasks, total } = await shop(3, 2);
  const { json } = await tasks('-o json');
  const [{ id: taskId, contextId }, other] = json.tasks;
  expect((await tasks(`erase ${taskId} -o json`)).json).toMatchObject({ tasks: 1, webhooks: 0, left: [] });
  const again = await tasks(`erase ${taskId}`);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`There is no task ${taskId}`)]);
  expect((await tasks(`erase --context-id ${other.contextId}`)).stdout).toMatch(/^Tasks: 1$/m);
  expect((await tasks(`erase --context-id ${contextId} -o json`)).json).toMatchObject({ tasks: 0 });
  expect((await tasks('erase --all --yes -o json')).json).toMatchObject({ tasks: 3, left: [] });
  expect(await total('CANCELED')).toBe(0);
});

it('names those that no process ended in time', async () => {
  const file = join(temporaryFolder(), 'tasks.db');
  const store = sqliteStore(file);
  onTestFinished(() => store.close());
  const server = createAgentServer({
    card: { name: 'Used', description: 'Is used' },
    name: 'used',
    store,
    logger: () => {},
    agent: async function* () {
      yield inputRequired('What?');
    },
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  await server.close();
  const erased = await cli(`tasks --store ${file} --agent used erase --all --wait 1ms`);
  expect([erased.code, erased.stdout]).toEqual([1, expect.stringContaining(`Not ended yet: ${task.id}`)]);
  const interrupted = await cli(`tasks --store ${file} --agent used erase --all`, {
    signal: AbortSignal.abort(),
  });
  expect(interrupted.code).toBe(130);
  for (const { stderr } of [erased, interrupted]) expect(stderr).toContain('give the same command again');
});
