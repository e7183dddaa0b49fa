import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Message, Task } from '@batonjs/protocol';
import { LABELS } from '@batonjs/protocol/headers';
import { completed } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { eventually } from '../../../test/kit/until.ts';
import { taskLines } from '../src/commands/list.ts';
import { manyCard, serveMany, serveSteps } from './agents.ts';
import { abortedAfterTest, cli, fieldOf } from './cli.ts';
import { passOn, serveRpc, taskOf } from './rpc.ts';
import { usedStore } from './used-store.ts';

const started = async (url: string, word: string) =>
  (await cli(`send -a ${url} -o json --async ${word}`)).json.task.id as string;

/** An agent over JSON-RPC whose GetTask gives one state after the other, and then the last one. */
async function servePolled(...states: readonly string[]) {
  const times: number[] = [];
  const { line } = await serveRpc(({ method }) => {
    if (method !== 'GetTask') return undefined;
    return taskOf(states[Math.min(times.push(performance.now()), states.length) - 1]!);
  });
  return { line, times };
}

describe('task get', () => {
  it('shows state and artifacts, and the history that is asked for [A2ACLI_TASK_GET_001, R-CLI-61]', async () => {
    const url = await serveMany();
    const { id } = (await cli(`send -a ${url} -o json hello`)).json.task;
    const { stdout } = await cli(`task get -a ${url} ${id}`);
    expect(fieldOf(stdout, 'State')).toBe('TASK_STATE_COMPLETED');
    expect(stdout).toContain('You said hello');
    expect(stdout).not.toContain('ROLE_USER');
    expect((await cli(`task get -a ${url} ${id} --history 5`)).stdout).toContain('Role: ROLE_USER');
    expect((await cli(`task get -a ${url} ${id} -o json`)).json).toMatchObject({ id });
    expect((await cli(`task get -a ${url} ${id} -o json --history 0`)).json.history ?? []).toEqual([]);
  });

  it('reads once, or with --wait until the task ends [A2ACLI_TASK_POLL_001, R-CLI-24]', async () => {
    const once = await servePolled('WORKING', 'COMPLETED');
    expect(fieldOf((await cli(`task get ${once.line} t`)).stdout, 'State')).toBe('TASK_STATE_WORKING');
    expect(once.times).toHaveLength(1);
    const wait = await servePolled('WORKING', 'WORKING', 'COMPLETED');
    const { stdout, code } = await cli(`task get ${wait.line} t --wait --poll-interval 5ms`);
    expect(fieldOf(stdout, 'State')).toBe('TASK_STATE_COMPLETED');
    expect([code, wait.times.length]).toEqual([0, 3]);
  });

  it('waits between reads, and ends with 5 at --timeout with the command that goes on [A2ACLI_TASK_POLL_002, R-CLI-25, R-CLI-86, R-CLI-92]', async () => {
    const agent = await servePolled('WORKING');
    const ran = await cli(`task get ${agent.line} t --wait --poll-interval 50ms --timeout 400ms -o json`);
    expect(ran.code).toBe(5);
    expect(ran.json.error).toMatchObject({ code: 'A2ACLI_ERR_TIMEOUT', a2aCode: null });
    expect(ran.json.error.hint).toMatch(/^baton task get t --wait -e /);
    expect(ran.stderr).toContain('Waiting for task t:');
    const pauses = agent.times.slice(1).map((time, n) => time - agent.times[n]!);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(45);
  });

  it.each(['INPUT_REQUIRED', 'AUTH_REQUIRED', 'FAILED', 'CANCELED', 'REJECTED'])(
    'stops at %s, and goes on at UNSPECIFIED [A2ACLI_TASK_POLL_003, R-CLI-90]',
    async (state) => {
      const agent = await servePolled('UNSPECIFIED', 'WORKING', state);
      const { stdout, code } = await cli(`task get ${agent.line} t --wait --poll-interval 5ms`);
      expect([code, fieldOf(stdout, 'State')]).toEqual([0, `TASK_STATE_${state}`]);
      const once = await servePolled('UNSPECIFIED');
      expect(fieldOf((await cli(`task get ${once.line} t`)).stdout, 'State')).toBe('TASK_STATE_UNSPECIFIED');
    },
  );
});

describe('a wait', () => {
  it('polls where the stream of the agent fails [A2ACLI_TASK_POLL_004, R-CLI-91]', async () => {
    let [streams, reads] = [0, 0];
    const gate = Promise.withResolvers<void>();
    const url = await serveSteps([gate.promise]);
    // A proxy that breaks every stream: the first one after its first bytes, the others at once.
    const cut = await listen(
      createServer(async (request, response) => {
        const body = await text(request);
        if (body.includes('"SubscribeToTask"')) {
          streams += 1;
          return void request.socket.destroy();
        }
        if (body.includes('"GetTask"')) reads += 1;
        const answer = await fetch(`${url}${request.url}`, {
          method: request.method!,
          headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
          ...(body && { body }),
        });
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
        if (!answer.headers.get('content-type')?.startsWith('text/event-stream'))
          return void response.end(await answer.text());
        for await (const chunk of answer.body!) {
          response.write(chunk, () => request.socket.destroy());
          break;
        }
      }),
    );
    void eventually(() => expect(reads).toBeGreaterThan(1)).then(gate.resolve);
    const { json, code } = await cli(`send -e ${cut} --transport jsonrpc -o json --poll-interval 20ms go`);
    expect(json.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(code).toBe(0);
    expect(streams).toBeGreaterThan(0);
  });

  it('sends without a stream, under the same message id, where streaming is refused [A2ACLI_TASK_POLL_004, R-CLI-94]', async () => {
    const url = await serveMany();
    const { line, calls } = await serveRpc((call) =>
      call.method === 'SendStreamingMessage' ? undefined : passOn(url, call),
    );
    const { json } = await cli(`send ${line} -o json --poll-interval 10ms hello`);
    expect(json.task.status.state).toBe('TASK_STATE_COMPLETED');
    const ids = calls.flatMap(({ params }) => params.message?.messageId ?? []);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });
});

describe('task cancel', () => {
  it('reports the resulting state, also when it is repeated [A2ACLI_TASK_CANCEL_001]', async () => {
    const url = await serveMany();
    const id = await started(url, 'endless');
    for (const _ of [1, 2]) {
      const { json, code } = await cli(`task cancel -a ${url} ${id} -o json`);
      expect([code, json.status.state]).toEqual([0, 'TASK_STATE_CANCELED']);
    }
    const done = (await cli(`send -a ${url} -o json hello`)).json.task.id;
    const refused = await cli(`task cancel -a ${url} ${done} -o json`);
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'TaskNotCancelableError' } } });
    expect(refused.stderr).toContain('State: TASK_STATE_COMPLETED');
  });
});

it('task cancel ends with 1 where the task has not ended', async () => {
  const url = await serveMany({ run: 'workers', timeouts: { cancelMs: 1 } });
  const { task } = (await cli(`send -a ${url} -o json --async hello`)).json;
  const { code, stderr } = await cli(`task cancel -a ${url} ${task.id}`);
  expect([code, stderr]).toEqual([1, expect.stringContaining('Not ended yet')]);
});

describe('task list', () => {
  it('lists by state and context, page by page [A2ACLI_TASK_LIST_001, R-CLI-11, R-CLI-62]', async () => {
    const url = await serveMany();
    const first = (await cli(`send -a ${url} -o json hello`)).json.task;
    await cli(`send -a ${url} -o json --context-id ${first.contextId} hello`);
    await cli(`send -a ${url} -o json ask`);
    const list = async (flags: string) => (await cli(`task list -a ${url} -o json ${flags}`)).json;
    expect((await list('')).tasks).toHaveLength(3);
    expect((await list('--state completed')).tasks).toHaveLength(2);
    expect((await list(`--context-id ${first.contextId}`)).tasks).toHaveLength(2);
    const page = await list('--page-size 2');
    expect(page.tasks).toHaveLength(2);
    const rest = await list(`--page-size 2 --page-token ${page.nextPageToken}`);
    expect(rest.tasks).toHaveLength(1);
    expect((await cli(`task list -a ${url} --page-size 2`)).stdout).toMatch(
      /Tasks: 2\nNext Page Token: \S+\n$/,
    );
    expect((await cli(`task list -a ${url} -o json --stream`)).lines.map(({ id }) => id)).toHaveLength(3);
    expect((await cli(`task list -a ${url}`)).stdout.match(/^Task ID: /gm)).toHaveLength(3);
    expect((await cli(`task list -a ${url} --state done`)).code).toBe(2);
  });

  it('lists those of a store with the same flags and in the same form', async () => {
    const { file, server } = usedStore({
      agent: async function* ({ text: said }) {
        yield completed(said === 'three' ? undefined : 'Hello');
      },
    });
    for (const user of ['one', 'two', 'three']) await rpc(server, 'SendMessage', { message: say(user) });
    const of = [`task list --store ${file}`, `tasks --store ${file}`];
    const [one, other] = await Promise.all(
      of.map((line) => cli(`${line} --agent used --page-size 2 -o json`)),
    );
    expect([one?.code, one?.stdout]).toEqual([0, other?.stdout]);
    const { tasks, nextPageToken, totalSize } = one!.json;
    expect([tasks.map(({ status }: Task) => status.state), totalSize]).toEqual([
      ['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED'],
      3,
    ]);
    const all = await cli(`${of[0]} --agent used`, { isTTY: true });
    expect(all.stdout.split('\n')[1]).toMatch(/ {2}three$/);
    const rest = await cli(`${of[0]} --agent used --page-token ${nextPageToken}`, {
      isTTY: true,
      env: { NO_COLOR: '1' },
    });
    expect(rest.stdout).toMatch(/\ncompleted {3}\ds {2}[\w-]{36} {2}Hello\n$/);
    expect((await cli(`${of[0]} --agent used --state working --since 1h -o json`)).json.tasks).toEqual([]);
    // A store in the settings is not meant where an agent is named.
    const url = await serveMany();
    const env = { A2ACLI_STORE: file };
    await cli(`send -a ${url} hello`);
    expect((await cli(`task list -a ${url} -o json`, { env })).json.tasks).toHaveLength(1);
  });

  it('lists one a line at a terminal, no wider than it', async () => {
    const url = await serveMany();
    await cli(`send -a ${url} hello`);
    await cli(`send -a ${url} ask`);
    const terminal = { isTTY: true, env: { NO_COLOR: '1' } };
    const { stdout, stderr } = await cli(`task list -a ${url} --page-size 1`, terminal);
    expect(stdout).toMatch(
      /^STATE {11}AGE {2}TASK OF Many {26}LAST SAID\ninput-required {2} {0,2}\d+s {2}[\w-]{36} {2}\S.*\n$/,
    );
    expect(stderr).toMatch(/^1 task, more with --page-token \S+\n$/);
    const all = (await cli(`task list -a ${url}`, terminal)).stdout.trimEnd().split('\n');
    expect(all.map((line) => line.split('  ')[0])).toEqual(['STATE', 'input-required', 'completed']);
    // Its status says nothing any more: what was said last does.
    expect(all[2]).toMatch(/[\w-]{36} {2}Working$/);
    expect(Math.max(...all.map((line) => line.length))).toBeLessThanOrEqual(80);
    const row = (status: object) => ({ id: 't', contextId: 'c', status }) as never;
    const said = (text: string) => ({ messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] });
    const long = 'x'.repeat(90);
    expect(
      taskLines(
        [
          row({ state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00Z', message: said(long) }),
          row({
            state: 'TASK_STATE_AUTH_REQUIRED',
            timestamp: '2026-01-02T23:00:00Z',
            message: said('a\nb\u001b'),
          }),
          row({ state: 'TASK_STATE_FAILED' }),
        ],
        { agent: 'a\n', columns: 50, now: Date.parse('2026-01-03T00:00:00Z'), env: {} },
      ).split('\n'),
    ).toEqual([
      'STATE          AGE  TASK OF a   LAST SAID',
      `\u001b[36mworking\u001b[0m         2d  t           ${'x'.repeat(17)}…`,
      '\u001b[33mauth-required\u001b[0m   1h  t           a b\u{fffd}',
      '\u001b[31mfailed\u001b[0m              t',
      '',
    ]);
  });

  it('draws a list again while it is watched, at a terminal only', async () => {
    const url = await serveMany();
    const stop = abortedAfterTest();
    const watching = cli(`task list -a ${url} --watch`, {
      isTTY: true,
      signal: stop.signal,
      onWrite: (_, text) => {
        if (text.startsWith('0 tasks')) void cli(`send -a ${url} hello`);
        if (text.includes('completed')) stop.abort();
      },
    });
    const { code, stdout } = await watching;
    expect([code, stdout.split('\u001b[H\u001b[2J').length > 2]).toEqual([130, true]);
    for (const line of [`task list -a ${url} --watch`, 'tasks --store x.db --watch cancel --all'])
      expect((await cli(line)).stderr).toMatch(/--watch (draws at a terminal|is for the list alone)/);
  });

  it('lists by labels, and fails where the agent lists none by them', async () => {
    const capabilities = { extensions: [{ uri: LABELS }] };
    const labelsOf = ({ parts: [part] }: Message) => [
      'eu',
      `about:${part && 'text' in part ? part.text : ''}`,
    ];
    const url = await serveMany({ card: { ...manyCard, capabilities }, messages: { labelsOf } });
    await cli(`send -a ${url} -o json hello`);
    await cli(`send -a ${url} -o json ask`);
    const list = async (flags: string) => (await cli(`task list -a ${url} -o json ${flags}`)).json.tasks;
    expect(await list('--label eu')).toHaveLength(2);
    expect(await list('--label eu --label about:ask')).toMatchObject([
      { metadata: { [LABELS]: ['eu', 'about:ask'] } },
    ]);
    expect(await list('--label eu --code PROCESS_LOST')).toEqual([]);
    expect(await list('--skill pay')).toEqual([]);
    const refused = await cli(`task list -a ${await serveMany()} -o json --label eu`);
    expect([refused.code === 0, refused.json.error.message]).toEqual([
      false,
      'This operation is not supported',
    ]);
  });
});

describe('task subscribe', () => {
  it('follows a task; its first event is the whole task [A2ACLI_TASK_SUBSCRIBE_001, A2ACLI_TASK_SUBSCRIBE_002, R-CLI-63]', async () => {
    const url = await serveMany();
    const id = await started(url, 'endless');
    const following = cli(`task subscribe -a ${url} ${id} -o json --stream`, {
      onWrite: (stream) => void (stream === 'stdout' && cli(`task cancel -a ${url} ${id}`)),
    });
    const { lines, code } = await following;
    expect(code).toBe(0);
    expect(lines[0].task).toMatchObject({ id, history: [{ role: 'ROLE_USER' }] });
    expect(lines.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
    const again = await cli(`task subscribe -a ${url} ${id} -o json`);
    expect(again.json).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('goes on after the connection broke, and repeats nothing [A2ACLI_TASK_SUBSCRIBE_002]', async () => {
    const url = await serveMany();
    const id = await started(url, 'endless');
    const reads: string[] = [];
    let cuts = 0;
    const proxy = await listen(
      createServer(async (request, response) => {
        const body = await text(request);
        reads.push(JSON.parse(body).method);
        const last = request.headers['last-event-id'];
        const headers = {
          'content-type': 'application/json',
          'a2a-version': '1.0',
          ...(last && { 'last-event-id': String(last) }),
        };
        const answer = await fetch(url, { method: 'POST', headers, body });
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
        for await (const chunk of answer.body ?? []) {
          response.write(chunk);
          if (cuts++ === 0) {
            setTimeout(() => response.destroy(), 20);
            return;
          }
        }
        response.end();
      }),
    );
    let isCanceled = false;
    const { lines } = await cli(`task subscribe -e ${proxy} --transport jsonrpc ${id} -o json --stream`, {
      onWrite: (stream) => {
        if (stream !== 'stdout' || isCanceled) return;
        isCanceled = true;
        setTimeout(() => void cli(`task cancel -a ${url} ${id}`), 300);
      },
    });
    expect(lines.filter((event) => event.task)).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
    expect(reads.filter((method) => method === 'SubscribeToTask').length).toBeGreaterThan(1);
  });
});

describe('the card of the agent', () => {
  it('is asked before a call that it may not offer [A2ACLI_VER_003]', async () => {
    const url = await serveMany({ card: { ...manyCard, capabilities: { pushNotifications: false } } });
    const id = await started(url, 'endless');
    const ran = await cli(`task push-config create -a ${url} ${id} --url https://example.com/hook -o json`);
    expect(ran).toMatchObject({ code: 1, json: { error: { code: 'PushNotificationNotSupportedError' } } });
  });
});
