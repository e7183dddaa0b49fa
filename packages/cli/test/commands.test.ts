import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Part, Task } from '@batonjs/protocol';
import { completed, working } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { serveMany } from './agents.ts';
import { abortedAfterTest, cli } from './cli.ts';
import { type RpcCall, serveRpc, taskOf } from './rpc.ts';

/** An agent over JSON-RPC with these answers by method. */
const serveAnswers = (answers: Readonly<Record<string, (call: RpcCall) => object | undefined>>) =>
  serveRpc((call) => answers[call.method]?.(call));

describe('task download', () => {
  const download = async (parts: readonly Part[], flags = '', more: object = {}) => {
    const artifacts = [{ artifactId: 'a', parts, ...more }];
    const { line } = await serveAnswers({ GetTask: () => taskOf('COMPLETED', { artifacts }) });
    const cwd = temporaryFolder();
    const { stdout, stderr } = await cli(`task download t ${line} ${flags}`, { cwd });
    return { stdout, stderr, cwd, names: readdirSync(cwd).sort() };
  };
  const raw = (filename?: string): Part => ({ raw: 'aGk=', ...(filename !== undefined && { filename }) });

  it.each([
    ['plain.txt', 'plain.txt'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\x\\y.exe', 'y.exe'],
    ['...hidden', '_hidden'],
    ['a b(1)-c_d.e', 'a b(1)-c_d.e'],
    ['ü?*:.txt', '____.txt'],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['', 'artifact'],
    ['/', 'artifact'],
  ])('names a file of an agent that is called %s: %s', async (filename, name) => {
    expect((await download([raw(filename)])).names).toEqual([name]);
  });

  it('numbers parts without names, and names that are taken', async () => {
    const parts = [
      { text: 'one' },
      { data: { n: 1 } },
      raw(),
      raw(),
      raw('N.txt'),
      { text: 'x', filename: 'n.txt' },
      { data: 1, filename: 'n.TXT' },
      raw('plain'),
      raw('plain'),
      raw('plain'),
    ];
    const { names, stdout, cwd } = await download(parts as Part[], '', { name: 'N' });
    expect(names).toEqual(
      [
        'N-2.json',
        'N-2.txt',
        'N-3',
        'N-4',
        'N.txt',
        'n-3.txt',
        'n-4.TXT',
        'plain',
        'plain-2',
        'plain-3',
      ].sort(),
    );
    expect(readFileSync(join(cwd, 'N-2.json'), 'utf8')).toBe('{\n  "n": 1\n}\n');
    expect(stdout).toMatch(
      /^Task ID: t\nContext ID: c\nState: TASK_STATE_COMPLETED\nSaved: .*N\.txt \(3 bytes\)\nSaved: /,
    );
  });

  it('says what it does not save, and overwrites nothing', async () => {
    const none = await download([{ url: 'http://f' }, {} as Part]);
    expect(none.stderr).toBe('Not downloaded: http://f\nNot downloaded: a\n');
    const missing = await download([raw()], '--artifact b');
    expect(missing.stderr).toBe('Error: The task has no artifact b\nCode: A2ACLI_ERR_USAGE\n');
    const { line } = await serveAnswers({
      GetTask: () => taskOf('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [raw('f')] }] }),
    });
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'f'), 'mine');
    const refused = await cli(`task download t ${line}`, { cwd });
    expect(refused.stderr).toBe(
      `Error: ${join(cwd, 'f')} exists\nCode: A2ACLI_ERR_USAGE\nHint: Give --force to overwrite it\n`,
    );
    expect(readFileSync(join(cwd, 'f'), 'utf8')).toBe('mine');
    const forced = await cli(`task download t ${line} --force -o json`, { cwd });
    expect(forced.json).toEqual({ taskId: 't', files: [{ path: join(cwd, 'f'), bytes: 2 }] });
  });
});

describe('task push-config', () => {
  const config = { taskId: 't', id: 'h', url: 'https://me.example/hook' };

  it('shows webhooks', async () => {
    const created: object[] = [];
    const { line, calls } = await serveAnswers({
      CreateTaskPushNotificationConfig({ params }) {
        created.push(params);
        return { ...config, ...params };
      },
      GetTaskPushNotificationConfig: () => ({ url: 'https://b' }),
      ListTaskPushNotificationConfigs: () => ({ configs: [config, config] }),
      DeleteTaskPushNotificationConfig: () => ({}),
    });
    const run = async (words: string) => (await cli(`task push-config ${words} ${line}`)).stdout;
    expect(await run('create t --url https://a --id x --token s3cret')).toBe(
      'Task ID: t\nConfig ID: x\nURL: https://a\n',
    );
    expect(created).toEqual([{ taskId: 't', url: 'https://a', id: 'x', token: 's3cret' }]);
    expect(await run('get t h')).toBe('Task ID: \nConfig ID: \nURL: https://b\n');
    const one = 'Task ID: t\nConfig ID: h\nURL: https://me.example/hook\n';
    expect(await run('list t')).toBe(`${one}${one}Configs: 2\n`);
    expect(await run('delete t h')).toBe('Task ID: t\nDeleted: h\n');
    expect(calls).toHaveLength(4);
    const none = await serveAnswers({ ListTaskPushNotificationConfigs: () => ({}) });
    expect((await cli(`task push-config list t ${none.line}`)).stdout).toBe('Configs: 0\n');
  });

  it('receive takes what is an update, and nothing else', async () => {
    const stop = abortedAfterTest();
    const listening = Promise.withResolvers<string>();
    const receiving = cli('task push-config receive --token s3cret --count 2 -o json', {
      signal: stop.signal,
      onWrite: (_, written) => /at (\S+)/.test(written) && listening.resolve(/at (\S+)/.exec(written)![1]!),
    });
    const hook = await listening.promise;
    const post = async (headers: Record<string, string>, body: string, method = 'POST') =>
      (await fetch(hook, { method, headers, ...(method === 'POST' && { body }) })).status;
    const update = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } });
    const good = { 'x-a2a-notification-token': 's3cret' };
    expect(await post(good, '', 'GET')).toBe(405);
    expect(await post({}, update)).toBe(401);
    expect(await post({ 'x-a2a-notification-token': 'other' }, update)).toBe(401);
    expect(await post(good, '{')).toBe(400);
    expect(await post(good, ' '.repeat(16 * 1_048_576 + 1))).toBe(413);
    expect(await post(good, update.padEnd(16 * 1_048_576))).toBe(200);
    expect(await post({ 'a2a-notification-token': 's3cret' }, update)).toBe(200);
    expect((await receiving).lines).toHaveLength(2);
    await expect(fetch(hook)).rejects.toThrow();
  });

  it('receive takes updates without a token until it is interrupted', async () => {
    const stop = abortedAfterTest();
    const listening = Promise.withResolvers<string>();
    const receiving = cli('task push-config receive', {
      signal: stop.signal,
      onWrite: (_, written) => /at (\S+)/.test(written) && listening.resolve(/at (\S+)/.exec(written)![1]!),
    });
    const hook = await listening.promise;
    expect(hook).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const body = JSON.stringify({ statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } });
    expect((await fetch(hook, { method: 'POST', body })).status).toBe(200);
    stop.abort();
    expect(await receiving).toMatchObject({ code: 0, stdout: 'State: TASK_STATE_WORKING\n' });
    const { port } = new URL(hook);
    const few = cli('task push-config receive --count 1', {
      signal: AbortSignal.timeout(1),
    });
    expect((await few).code).toBe(130);
    const taken = createServer().listen(Number(port), '127.0.0.1');
    onTestFinished(() => void taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const { code, stderr } = await cli(`task push-config receive --port ${port}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
  });
});

describe('task', () => {
  it.each([
    ['FAILED', 'Warning: The task ended as TASK_STATE_FAILED\n', ''],
    ['CANCELED', 'Warning: The task ended as TASK_STATE_CANCELED\n', ''],
    ['REJECTED', 'Warning: The task ended as TASK_STATE_REJECTED\n', ''],
    ['COMPLETED', '', ''],
    ['INPUT_REQUIRED', '', 'Resume: '],
    ['AUTH_REQUIRED', '', 'Resume: '],
  ])('get concludes %s', async (state, warning, resume) => {
    const { line, url } = await serveAnswers({ GetTask: ({ params: { id } }) => taskOf(state, { id }) });
    const { stdout, stderr } = await cli(['task', 'get', "it's", ...line.split(' ')]);
    const how = `${resume}baton send --task-id 'it'\\''s' "…" -e ${url} --transport JSONRPC\n`;
    expect(stdout).toBe(`Task ID: it's\nContext ID: c\nState: TASK_STATE_${state}\n${resume && how}`);
    expect(stderr).toBe(warning);
    const json = await cli(['task', 'get', 't', ...line.split(' '), '-o', 'json']);
    expect(json.stderr).toBe(warning + (resume && how.replace(`'it'\\''s'`, 't')));
  });
});

describe('a wait', () => {
  const follow = (line: string, more = '') =>
    cli(`task subscribe t ${line} --stream -o json --poll-interval 1ms ${more}`);

  it('ends where the task waits for an answer', async () => {
    const { line, calls } = await serveAnswers({
      SubscribeToTask({ send }) {
        send({ task: taskOf('WORKING') });
        send({
          statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
        });
        return undefined;
      },
    });
    expect((await follow(line)).lines).toHaveLength(2);
    expect(calls.map(({ method }) => method)).toEqual(['SubscribeToTask']);
    const { stdout } = await cli(`task subscribe t ${line}`);
    expect(stdout).toMatch(/^Task ID: t\nContext ID: c\nState: TASK_STATE_INPUT_REQUIRED\nResume: /);
    const streamed = await cli(`task subscribe t ${line} --stream`);
    expect(streamed.stdout).toMatch(
      /^Task ID: t\nContext ID: c\nState: TASK_STATE_WORKING\nState: TASK_STATE_INPUT_REQUIRED\nTask ID: t\nContext ID: c\nState: TASK_STATE_INPUT_REQUIRED\nResume: /,
    );
  });
});

describe('conformance', () => {
  it('finds what is wrong with an agent', async () => {
    const { line } = await serveAnswers({
      SendMessage: () => ({ task: taskOf('COMPLETED') }),
      GetTask: ({ params: { id } }) => taskOf('COMPLETED', { id: id === 't' ? 'other' : id }),
      ListTasks: ({ params: { pageSize } }) => ({
        tasks: Array(Number(pageSize ?? 0) + 1).fill(taskOf('WORKING')),
        nextPageToken: '',
        pageSize: 1,
        totalSize: 2,
      }),
      CancelTask: () => taskOf('CANCELED'),
      SendStreamingMessage: ({ send }) => void send({ task: taskOf('COMPLETED') }),
    });
    const { stdout, stderr, code } = await cli(`conformance ${line}`);
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(1)).toEqual([
      'Pass: a message gets a message or a task',
      'Fail: a task can be read (another task: other)',
      'Fail: tasks can be listed (2 tasks on a page of one)',
      'Fail: an unknown task is TaskNotFoundError (it was accepted)',
      'Fail: an ended task cannot be canceled (it was accepted)',
      'Pass: a stream ends with the task',
      'Skip: without push notifications, a webhook is refused (the card does not offer it)',
      expect.stringMatching(/^Failed: [45]$/),
      '',
    ]);
    expect(stderr).toMatch(/^Warning: [45] checks failed\n$/);
  });

  it('skips what an agent does not offer', async () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [] };
    const { line } = await serveAnswers({
      SendMessage: () => ({ message }),
      GetTask: () => ({ error: { code: -32602, message: 'No' } }),
      ListTasks: () => ({ tasks: [], nextPageToken: '', pageSize: 1, totalSize: 0 }),
      SendStreamingMessage: ({ send }) => void send({ message }),
    });
    const { json } = await cli(`conformance ${line} -o json`);
    expect(json.findings.slice(1)).toEqual([
      { check: 'a message gets a message or a task', result: 'pass' },
      { check: 'a task can be read', result: 'skip', note: 'the card does not offer it' },
      { check: 'tasks can be listed', result: 'pass' },
      {
        check: 'an unknown task is TaskNotFoundError',
        result: 'fail',
        note: 'it is refused with INVALID_PARAMS',
      },
      { check: 'an ended task cannot be canceled', result: 'skip', note: 'the card does not offer it' },
      { check: 'a stream ends with the task', result: 'pass' },
      {
        check: 'without push notifications, a webhook is refused',
        result: 'skip',
        note: 'the card does not offer it',
      },
    ]);
    const good = await cli(`conformance -a ${await serveMany()} -o json`);
    expect([good.code, good.json.failed, good.stderr]).toEqual([0, 0, '']);
    expect(good.json.findings.map(({ result }: { result: string }) => result)).toEqual(
      expect.arrayContaining(['pass']),
    );
    expect((await cli(`conformance -a ${await serveMany()}`)).stdout).toMatch(
      /^Pass: the card fits its schema\n(.*\n)*Failed: 0\n$/,
    );
  });
});

describe('chat', () => {
  it('asks a person for each line, and goes on with what waits', async () => {
    const sent: Task[] = [];
    const { line } = await serveAnswers({
      SendStreamingMessage({ params, send }) {
        sent.push(params.message);
        const state = sent.length === 1 ? 'AUTH_REQUIRED' : 'COMPLETED';
        send({ task: taskOf(state, { contextId: `c${sent.length}` }) });
        return undefined;
      },
    });
    const ran = await cli(`chat ${line} --task-id t0 --context-id c0 --progress never`, {
      isTTY: true,
      stdin: 'one\n \ntwo\nthree\n',
    });
    expect(ran.code).toBe(0);
    expect(ran.stderr).toBe('> > > > > ');
    expect(sent).toMatchObject([
      { taskId: 't0', contextId: 'c0', parts: [{ text: 'one' }] },
      { taskId: 't', contextId: 'c1', parts: [{ text: 'two' }] },
      { contextId: 'c2', parts: [{ text: 'three' }] },
    ]);
    expect(sent[2]).not.toHaveProperty('taskId');
    expect(ran.stdout.match(/^State: .*$/gm)).toEqual([
      'State: TASK_STATE_AUTH_REQUIRED',
      'State: TASK_STATE_COMPLETED',
      'State: TASK_STATE_COMPLETED',
    ]);
  });
});

describe('a deployment', () => {
  it('has its tasks shown, and what is wrong with its store', async () => {
    const file = join(temporaryFolder(), 'tasks.db');
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    const server = serve(
      async function* ({ text: said, signal }) {
        if (said === 'hi') return yield completed();
        yield working();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
      { name: 'shown', store },
    );
    const { nodeHandler } = await import('@batonjs/server-node');
    const url = await listen(nodeHandler(server));
    await cli(`send -a ${url} hi`);
    const { stdout } = await cli(`tasks --store sqlite:${file} --agent shown`);
    expect(stdout).toMatch(
      /^Task ID: \S+\nContext ID: \S+\nState: TASK_STATE_COMPLETED\nChanged: \d{4}-.*Z\nTasks: 1\nWaiting: 0\n$/,
    );
    expect((await cli(`tasks --store ${file} --agent shown --state input-required`)).stdout).toBe(
      'Tasks: 0\nWaiting: 0\n',
    );
    expect(await cli(`tasks --store ${file} --agent shown --caller ada`)).toMatchObject({
      stdout: 'Tasks: 0\nWaiting: 0\n',
      stderr: 'The agent "shown" has no tasks of callers of this name\n',
    });
    expect((await cli(`tasks --store ${file}`)).stderr).toBe(
      'No agent called "agent" has worked on this store: --agent takes the `name` of one that has\n',
    );
    expect((await cli(`tasks --store ${file} --agent shown --tenant a`)).stdout).toBe(
      'Tasks: 0\nWaiting: 0\n',
    );
    for (let n = 0; n < 7; n += 1) await cli(`send -a ${url} --async endless`);
    expect((await cli(`tasks --store ${file} --agent shown --page-size 2 -o json`)).json.tasks).toHaveLength(
      2,
    );
    const doctor = await cli(`doctor --store ${file} --agent shown --stuck-after 1h`);
    expect(doctor.stdout.replaceAll(/: \d+ms/g, ': n ms')).toBe(
      'Ok: store is reachable: n ms\nOk: store takes writes: a probe was written\nSkipped: clock of the store: does not apply\nSkipped: eviction policy: does not apply\nSkipped: connections: does not apply\nOk: indexes: all there\nOk: stuck tasks: none\nOk: tasks that wait for a process: 0\nOk: turns of versions that no process runs: none\nOk: options of servers and workers: the same in all\nOk: recurring tasks that no process starts: none\nOk: undelivered webhooks: none\nProblems: 0\n',
    );
    await expect
      .poll(async () => (await cli(`doctor --store ${file} --agent shown --stuck-after 1ms`)).stdout)
      .toMatch(/^Problem: stuck tasks: 7 at work without a change: ([\da-f-]{36}, ){4}[\da-f-]{36} …$/m);
    const agent = await cli(`doctor -a ${url} -o json`);
    expect(agent.json).toMatchObject({
      problems: 0,
      findings: [
        { check: 'agent answers', result: 'ok', note: expect.stringMatching(/^\d+ms$/) },
        { check: 'card fits its schema', result: 'ok' },
        {
          check: 'clock of the agent',
          result: 'ok',
          note: expect.stringMatching(/^-?\d+m?s from the clock of this machine$/),
        },
      ],
    });
  });

  it('leaves the file of its store as it was', async () => {
    const file = join(temporaryFolder(), 'tasks.db');
    await sqliteStore(file).close();
    expect((await cli(`tasks --store ${file} --agent shown`)).stdout).toBe('Tasks: 0\nWaiting: 0\n');
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it('of no store is no file', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'x.db'));
    const { stderr, code } = await cli('tasks --store x.db', { cwd: folder });
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^Error: The store cannot be opened: .+\nCode: A2ACLI_ERR_UNREACHABLE\n/),
    ]);
  });
});

it('demo-server shows a question, a failure, data and a task that takes a while', async () => {
  const stop = abortedAfterTest();
  const listening = Promise.withResolvers<string>();
  const serving = cli('demo-server --port 0 -o json', {
    signal: stop.signal,
    onWrite: (stream, written) => stream === 'stdout' && listening.resolve(JSON.parse(written).url),
  });
  const url = await listening.promise;
  const run = (words: string) => cli(`send -a ${url} -o json ${words}`);
  const asked = (await run('ask')).json.task;
  expect(asked.status).toMatchObject({
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { parts: [{ text: 'What shall I echo?' }] },
  });
  expect((await run(`--task-id ${asked.id} 'ask this'`)).json.task.artifacts).toMatchObject([
    { artifactId: 'echo', parts: [{ text: 'ask this' }] },
  ]);
  expect((await run('fail')).json.task.status).toMatchObject({
    state: 'TASK_STATE_FAILED',
    message: { parts: [{ text: 'You asked for a failure' }, { data: { code: 'ASKED_TO' } }] },
  });
  expect((await run(`--data '{"a":1}'`)).json.task.artifacts[0].parts).toEqual([{ data: [{ a: 1 }] }]);
  const { lines } = await run('--stream hi');
  expect(JSON.stringify(lines)).toContain('Step 1 of 1');
  const slow = await cli(`send -a ${url} --stream slow`, {
    onWrite: (_, written) => written.includes('Step 2 of 5') && stop.abort(),
    signal: stop.signal,
  });
  expect(slow.code).toBe(130);
  expect((await cli(`card get ${url} --timeout 1ms`)).code).not.toBe(0);
  expect((await serving).code).toBe(0);
});
