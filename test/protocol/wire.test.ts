import { A2AError } from '@batonjs/protocol/errors';
import {
  type Agent,
  type AgentServerOptions,
  artifact,
  authRequired,
  completed,
  data,
  inputRequired,
  working,
} from '@batonjs/server';
import { expect, it, vi } from 'vitest';
import { brief, collect, say } from '../kit/rpc.ts';
import { everywhere, gate, onEveryAdapter } from './peer.ts';

type ServerEvent = Parameters<NonNullable<AgentServerOptions['onEvent']>>[0];

/** Every member below a value with its name; free JSON is left alone. */
function members(value: unknown, found: [name: string, value: unknown][] = []): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) found.push([name, member]);
    if (!['metadata', 'data', 'params', 'header', 'schemes'].includes(name)) members(member, found);
  }
  return found;
}

const talkative: Agent = async function* ({ message }) {
  yield working('On it');
  yield artifact({ artifactId: 'a', name: 'A', metadata: { some_thing: 1 } }, data({ an_other: 1 }));
  yield message.parts.length > 1 ? inputRequired('Well?') : completed('Done');
};

everywhere('The wire', (serve) => {
  it('has lowerCamelCase members, full names of enums, UTC times and the right roles everywhere [R-JSON-01] [R-JSON-02] [R-JSON-09] [R-DM-02] [R-DM-05]', async () => {
    const { call, stream } = await serve(talkative, { push: { allow: ['127.0.0.1:*'] } });
    const { task } = await call('SendMessage', { message: say([{ text: 'go' }, { data: { a_b: 1 } }]) });
    const events = [];
    for await (const { event } of stream('SendStreamingMessage', { message: say('go') })) events.push(event);
    const webhook = { taskId: task.id, url: 'http://127.0.0.1:9/', authentication: { scheme: 'Bearer' } };
    const said = [
      task,
      ...events,
      await call('GetTask', { id: task.id }),
      await call('ListTasks', { includeArtifacts: true, historyLength: 5 }),
      await call('CreateTaskPushNotificationConfig', webhook),
      await call('ListTaskPushNotificationConfigs', { taskId: task.id }),
      await call('CancelTask', { id: task.id }),
    ];
    const all = members(said);
    expect(all.map(([name]) => name).filter((name) => !/^[a-z]+([A-Z][a-z]*)*$/.test(name))).toEqual([]);
    const of = (wanted: string) => all.flatMap(([name, value]) => (name === wanted ? [value] : []));
    expect(new Set(of('state'))).toEqual(
      new Set(
        ['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'COMPLETED', 'CANCELED'].map(
          (name) => `TASK_STATE_${name}`,
        ),
      ),
    );
    expect(new Set(of('role'))).toEqual(new Set(['ROLE_USER', 'ROLE_AGENT']));
    for (const time of of('timestamp')) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const status of of('status')) expect(status).toHaveProperty('timestamp');
    const history = (of('history') as { role: string; parts: { text: string }[] }[][]).flat();
    for (const { role, parts } of history)
      expect(role).toBe(parts[0]?.text === 'go' ? 'ROLE_USER' : 'ROLE_AGENT');
    expect(new Set(history.map(({ role }) => role)).size).toBe(2);
  });

  it('keeps the free JSON of clients and agents as it is [R-JSON-16] [R-EXT-04]', async () => {
    const uri = 'https://extensions.example/receipts/v1';
    const seen: unknown[] = [];
    const { call } = await serve(async function* ({ message, metadata }) {
      seen.push(message.metadata, message.extensions, metadata);
      yield completed({
        ...say('Done'),
        role: 'ROLE_AGENT',
        extensions: [uri],
        metadata: { [uri]: { paid_by: 1 } },
      });
    });
    const message = say('go', { extensions: [uri], metadata: { [uri]: { receipt_no: [1, { A_b: null }] } } });
    const { task } = await call('SendMessage', {
      message: { ...message, receipt: 1 },
      metadata: { 'x-y': true },
    });
    expect(seen).toEqual([message.metadata, [uri], { 'x-y': true }]);
    expect(task.history[0]).toMatchObject({ extensions: [uri], metadata: message.metadata });
    expect(task.status.message).toMatchObject({ extensions: [uri], metadata: { [uri]: { paid_by: 1 } } });
    // A member that an extension adds to a core object belongs to no schema.
    expect(task.history[0]).not.toHaveProperty('receipt');
  });
});

everywhere('States', (serve) => {
  it('say that a task was accepted, and that it is being worked on [R-STATE-02] [R-STATE-03] [R-BIND-06] [R-SEED-22]', async () => {
    const start = gate();
    const end = gate();
    const transitions: Extract<ServerEvent, { type: 'transition' }>[] = [];
    const { call } = await serve(
      async function* () {
        await start.opened;
        yield working();
        await end.opened;
        yield completed();
      },
      { onEvent: (event) => event.type === 'transition' && transitions.push(event) },
    );
    const { task } = await call('SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    const stateIs = (state: string) =>
      vi.waitFor(async () =>
        expect((await call('GetTask', { id: task.id })).status.state).toBe(`TASK_STATE_${state}`),
      );
    start.open();
    await stateIs('WORKING');
    end.open();
    await stateIs('COMPLETED');
    expect(transitions.map(({ to }) => to)).toEqual(
      ['SUBMITTED', 'WORKING', 'COMPLETED'].map((state) => `TASK_STATE_${state}`),
    );
    for (const { taskId, contextId, at } of transitions)
      expect([taskId, contextId, Number.isNaN(Date.parse(at))]).toEqual([task.id, task.contextId, false]);
  });

  it('wait for the client at INPUT_REQUIRED, and go on with its message [R-STATE-04]', async () => {
    const { call } = await serve(async function* ({ messages, text }) {
      yield messages.length === 1 ? inputRequired('Which?') : completed(text);
    });
    const { task } = await call('SendMessage', { message: say('go') });
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Which?' }] },
    });
    const { task: after } = await call('SendMessage', { message: say('This', { taskId: task.id }) });
    expect(after.status).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      message: { parts: [{ text: 'This' }] },
    });
  });

  it('go on from AUTH_REQUIRED without a message of the client, and followers and pollers see it [R-STATE-05] [R-STATE-14] [R-STATE-16]', async () => {
    let wakeKey = '';
    const peer = await serve(async function* (turn) {
      wakeKey = turn.wakeKey;
      yield turn.task?.status.state === 'TASK_STATE_WORKING'
        ? completed('Thanks')
        : authRequired('Sign in at …');
    });
    const { call, stream, server } = peer;
    const { task } = await call('SendMessage', { message: say('go') });
    // It is a task, and names what the agent needs.
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_AUTH_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'Sign in at …' }] },
    });
    const events = stream('SubscribeToTask', { id: task.id });
    expect(brief((await events.next()).value!.event)).toBe('task AUTH_REQUIRED');
    await server.wake(wakeKey);
    expect((await collect(events)).at(-1)).toBe('COMPLETED');
    expect(await call('GetTask', { id: task.id })).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      history: { length: 2 },
    });
  });

  it('authorise nothing: neither AUTH_REQUIRED nor a credential for one message opens anything else [R-STATE-17]', async () => {
    const callers: unknown[] = [];
    const { call } = await serve(
      async function* ({ caller, messages }) {
        callers.push(caller);
        yield messages.length < 3 ? authRequired('Sign in') : completed();
        if (messages.length < 3) return;
      },
      {
        authenticate: ({ headers }) => {
          const { authorization } = headers;
          if (!authorization) return undefined;
          const [scope, grant] = authorization.split('/');
          return { scope: scope!, claims: { grant: grant ?? 'none' } };
        },
      },
    );
    const as = (authorization: string) => ({ authorization });
    const { task } = await call('SendMessage', { message: say('go') }, as('me/payments'));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    const follow = () => ({ message: say('on', { taskId: task.id }) });
    await expect(call('SendMessage', follow())).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    await expect(call('SendMessage', follow(), as('other/payments'))).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    await call('SendMessage', follow(), as('me'));
    // The grant of the first message is not that of the second.
    expect(callers).toEqual([
      { scope: 'me', grant: 'payments' },
      { scope: 'me', grant: 'none' },
    ]);
  });
});

onEveryAdapter('Payloads', (serve) => {
  it.each([
    ['no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"message":{}}', 'utf16le')],
  ])('that are %s are refused before anything is done [R-JSON-18]', async (_, body) => {
    let calls = 0;
    const peer = await serve(async function* () {
      calls++;
      yield completed();
    });
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const rpc = await (await peer.fetch('/', { method: 'POST', headers, body })).json();
    expect(rpc.error.code).toBe(-32_700);
    const http = await peer.fetch('/message:send', { method: 'POST', headers, body });
    expect(http.status).toBe(400);
    expect(calls).toBe(0);
  });

  it('that do not fit the schema are refused before anything is done [R-JSON-06] [R-JSON-18]', async () => {
    let calls = 0;
    const { call } = await serve(async function* () {
      calls++;
      yield completed();
    });
    const refused = call('SendMessage', { message: { messageId: 'm', parts: [{ text: 'ä' }] } });
    await expect(refused).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [{ fieldViolations: [{ field: 'message.role' }] }],
    });
    expect(calls).toBe(0);
    const { task } = await call('SendMessage', { message: say('ä€😀') });
    expect(task.history[0].parts[0].text).toBe('ä€😀');
  });
});

onEveryAdapter('Versions', (serve) => {
  it('decide by which rules a request is handled [R-OP-11] [R-VER-03] [R-VER-09]', async () => {
    const { call } = await serve(async function* () {
      yield completed();
    });
    const listed = (version: string) => call('ListTasks', {}, { 'a2a-version': version });
    expect(await listed('1.0')).toEqual(await listed('1.0.9'));
    for (const version of ['0.3', '1.1', '2.0'])
      await expect(listed(version)).rejects.toSatisfy(
        (error) => A2AError.is(error) && error.reason === 'VERSION_NOT_SUPPORTED',
      );
  });
});

onEveryAdapter('Extensions of ours', (serve) => {
  it('have a version and a namespace of their own, are never required, and are off unless asked for [R-EXT-03] [R-EXT-06] [R-EXT-09]', async () => {
    const peer = await serve(
      async function* ({ extensions }) {
        yield completed(`Active: ${extensions.length}`);
      },
      { messages: { idempotency: true } },
    );
    const { extensions = [] } = peer.server.card.capabilities;
    expect(extensions).not.toEqual([]);
    for (const { uri, required = false } of extensions) {
      expect(uri).toMatch(/^https:\/\/batonjs\.dev\/extensions\/[a-z-]+\/v\d+$/);
      expect(required).toBe(false);
    }
    const textOf = async (headers: Record<string, string>) =>
      (await peer.call('SendMessage', { message: say('go') }, headers)).task.status.message.parts[0].text;
    expect(await textOf({})).toBe('Active: 0');
    expect(await textOf({ 'a2a-extensions': extensions[0]!.uri! })).toBe('Active: 1');
    // Another version is another extension.
    expect(await textOf({ 'a2a-extensions': extensions[0]!.uri!.replace(/v\d+$/, 'v99') })).toBe('Active: 0');
  });
});
