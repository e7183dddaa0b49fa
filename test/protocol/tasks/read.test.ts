import { LABELS } from '@batonjs/protocol/headers';
import { type Agent, artifact, completed, failed, inputRequired, reply, working } from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { everywhere } from '../peer.ts';

everywhere('GetTask', (serve) => {
  it('returns the task as SendMessage did, as often as it is asked [R-GET-01] [R-GET-03] [R-IDEM-02]', async () => {
    const { call } = await serve(async function* () {
      yield artifact('a', 'x');
      yield completed('Done');
    });
    const { task } = await call('SendMessage', { message: say('go') });
    expect(await call('GetTask', { id: task.id })).toEqual(task);
    expect(await call('GetTask', { id: task.id })).toEqual(task);
  });

  it('does not know tasks that do not exist, nor answers that are no tasks [R-GET-01]', async () => {
    const { call } = await serve(() => reply('Hi'));
    const { message } = await call('SendMessage', { message: say('hi') });
    for (const id of ['nobody', message.contextId, message.messageId])
      await expect(call('GetTask', { id })).rejects.toMatchObject({
        reason: 'TASK_NOT_FOUND',
        metadata: { taskId: id },
      });
  });

  it('limits the history to the latest, oldest first; 0 leaves it out [R-GET-02] [R-HLEN-01] [R-HLEN-02] [R-HLEN-03]', async () => {
    const { call } = await serve(async function* () {
      yield working('one');
      yield working('two');
      yield completed('three');
    });
    const { task } = await call('SendMessage', { message: say('go') });
    const history = async (historyLength?: number) => {
      const got = await call('GetTask', { id: task.id, historyLength });
      expect(got.status.message.parts).toEqual([{ text: 'three' }]);
      return 'history' in got
        ? got.history.map(({ parts }: { parts: [{ text: string }] }) => parts[0].text)
        : undefined;
    };
    expect(await history()).toEqual(['go', 'one', 'two']);
    expect(await history(0)).toBeUndefined();
    expect(await history(1)).toEqual(['two']);
    expect(await history(2)).toEqual(['one', 'two']);
    expect(await history(1e9)).toEqual(['go', 'one', 'two']);
    expect(await history(2 ** 31 - 1)).toEqual(['go', 'one', 'two']);
  });

  it('keeps the message of the status, also without history [R-HLEN-05] [R-HIST-04] [R-HIST-06] [R-HIST-07]', async () => {
    const { call } = await serve(
      async function* () {
        yield working('one');
        yield completed('two');
      },
      { messages: { currentStatusInHistory: true } },
    );
    const { task } = await call('SendMessage', { message: say('go') });
    expect(task.history.at(-1)).toEqual(task.status.message);
    expect(new Set(task.history.map(({ messageId }: { messageId: string }) => messageId)).size).toBe(3);
    expect(task.history[0]).toMatchObject({ taskId: task.id, contextId: task.contextId });
    const bare = await call('GetTask', { id: task.id, historyLength: 0 });
    expect(bare).not.toHaveProperty('history');
    expect(bare.status).toEqual(task.status);
  });

  it.each([-1, 1.5, '1.5', 'all', 'NaN', true])(
    'refuses a historyLength of %s [R-HLEN-04]',
    async (historyLength) => {
      const { call } = await serve(() => reply('Hi'));
      await expect(call('GetTask', { id: 'x', historyLength })).rejects.toMatchObject({
        reason: 'INVALID_PARAMS',
        details: [{ fieldViolations: [{ field: 'historyLength' }] }],
      });
    },
  );

  it('shows callers their own tasks only, and nothing of others [R-OP-03] [R-OP-04] [R-LIST-01]', async () => {
    const { call } = await serve(
      async function* () {
        yield inputRequired('Well?');
      },
      {
        authenticate: ({ headers }) => (headers.authorization ? { scope: headers.authorization } : undefined),
      },
    );
    const as = (authorization: string) => ({ authorization });
    const { task } = await call('SendMessage', { message: say('go') }, as('ann'));
    const notFound = { reason: 'TASK_NOT_FOUND', metadata: { taskId: task.id } };
    const id = { id: task.id };
    expect(await call('GetTask', id, as('ann'))).toMatchObject(id);
    await expect(call('GetTask', id, as('bob'))).rejects.toMatchObject(notFound);
    await expect(call('CancelTask', id, as('bob'))).rejects.toMatchObject(notFound);
    await expect(
      call('SendMessage', { message: say('x', { taskId: task.id }) }, as('bob')),
    ).rejects.toMatchObject(notFound);
    expect((await call('ListTasks', {}, as('bob'))).totalSize).toBe(0);
    expect((await call('ListTasks', { contextId: task.contextId }, as('bob'))).tasks).toEqual([]);
    expect((await call('ListTasks', {}, as('ann'))).totalSize).toBe(1);
    await expect(call('ListTasks', {})).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
  });
});

everywhere('ListTasks', (serve) => {
  const agent: Agent = async function* ({ text }) {
    yield artifact('a', text);
    if (text === 'ask') return yield inputRequired('Well?');
    yield text === 'fail' ? failed('No') : completed('Done');
  };

  it('is empty, with all its members, where nothing is [R-LIST-03] [R-LIST-09] [R-JSON-13]', async () => {
    const { call } = await serve(agent);
    expect(await call('ListTasks', {})).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
  });

  it('pages through all tasks once, newest status first [R-LIST-02] [R-LIST-03] [R-LIST-04] [R-LIST-09]', async () => {
    const { call } = await serve(agent);
    const made: string[] = [];
    for (let n = 0; n < 7; n++) made.push((await call('SendMessage', { message: say(`${n}`) })).task.id);
    const listed: { id: string; status: { timestamp: string } }[] = [];
    let pageToken = '';
    let pages = 0;
    do {
      const page = await call('ListTasks', { pageSize: 3, ...(pageToken && { pageToken }) });
      expect(page).toMatchObject({ pageSize: 3, totalSize: 7 });
      expect(page.tasks.length).toBeLessThanOrEqual(3);
      listed.push(...page.tasks);
      pageToken = page.nextPageToken;
      pages++;
    } while (pageToken !== '');
    expect(pages).toBe(3);
    expect(listed.map(({ id }) => id).sort()).toEqual(made.sort());
    const times = listed.map(({ status }) => status.timestamp);
    expect(times).toEqual([...times].sort().reverse());
  });

  it('brings a task to the front when its status changes [R-LIST-04]', async () => {
    const { call } = await serve(async function* ({ messages }) {
      yield messages.length === 1 ? inputRequired('Well?') : completed();
    });
    const first = (await call('SendMessage', { message: say('one') })).task;
    const second = (await call('SendMessage', { message: say('two') })).task;
    // Within a millisecond, ids decide.
    await expect.poll(() => new Date().toISOString()).not.toBe(second.status.timestamp);
    await call('SendMessage', { message: say('on', { taskId: first.id }) });
    const { tasks } = await call('ListTasks', {});
    expect(tasks.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
  });

  it('shows artifacts only where they are asked for, history too [R-LIST-05] [R-LIST-11]', async () => {
    const { call } = await serve(agent);
    const { task } = await call('SendMessage', { message: say('x') });
    for (const params of [{}, { includeArtifacts: false }, { historyLength: 0 }]) {
      const [listed] = (await call('ListTasks', params)).tasks;
      expect(listed).toEqual({ id: task.id, contextId: task.contextId, status: task.status });
    }
    const [full] = (await call('ListTasks', { includeArtifacts: true, historyLength: 5 })).tasks;
    expect(full).toEqual(task);
    const [half] = (await call('ListTasks', { historyLength: 5 })).tasks;
    expect(half).not.toHaveProperty('artifacts');
    expect(half.history).toEqual(task.history);
  });

  it('shows artifacts of a task that has none as an empty list, if asked [R-LIST-05]', async () => {
    const { call, binding } = await serve(async function* () {
      yield completed();
    });
    await call('SendMessage', { message: say('x') });
    const [listed] = (await call('ListTasks', { includeArtifacts: true })).tasks;
    // Over gRPC, an empty list is absent.
    expect(listed.artifacts).toEqual(binding === 'GRPC' ? undefined : []);
  });

  it.each([0, -1, 101, 150, 'x'])('refuses a pageSize of %s [R-LIST-06]', async (pageSize) => {
    const { call, binding } = await serve(agent);
    const listing = call('ListTasks', { pageSize });
    // Clients send 0 for one that is not set.
    if (binding === 'GRPC' && pageSize === 0) return expect(await listing).toMatchObject({ pageSize: 50 });
    await expect(listing).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [{ fieldViolations: [{ field: 'pageSize' }] }],
    });
  });

  it.each([1, 50, 100])('takes a pageSize of %s [R-LIST-06]', async (pageSize) => {
    const { call } = await serve(agent);
    expect(await call('ListTasks', { pageSize })).toMatchObject({ pageSize });
  });

  it('finds what has this status timestamp or a later one [R-LIST-07] [R-JSON-10]', async () => {
    const { call } = await serve(agent);
    const { task } = await call('SendMessage', { message: say('x') });
    const { timestamp } = task.status;
    const since = async (statusTimestampAfter: string) =>
      (await call('ListTasks', { statusTimestampAfter })).totalSize;
    expect(await since(timestamp)).toBe(1);
    expect(await since('2020-01-01T00:00:00Z')).toBe(1);
    expect(await since(timestamp.replace('Z', '+00:00'))).toBe(1);
    expect(await since(new Date(Date.parse(timestamp) + 1).toISOString())).toBe(0);
    const elsewhere = new Date(Date.parse(timestamp) + 3_600_000).toISOString().replace('Z', '+01:00');
    expect(await since(elsewhere)).toBe(1);
  });

  it('finds by labels, skill and code where the extension is active, and is refused elsewhere', async () => {
    const { call } = await serve(
      async function* ({ message: { parts } }) {
        yield { ...working('On it'), labels: ['eu', JSON.stringify(parts[0])] };
        yield failed({ code: 'NO_FUNDS', message: 'No' });
      },
      {
        card: {
          name: 'Row',
          description: 'For tests',
          capabilities: { extensions: [{ uri: LABELS }] },
          skillOf: ({ message }) => (message.parts.length > 1 ? 'pay' : undefined),
        },
      },
    );
    for (const text of ['one', 'two']) await call('SendMessage', { message: say(text) });
    const active = { 'a2a-extensions': LABELS };
    const find = async (params: object) => {
      const { tasks, totalSize } = await call('ListTasks', params, active);
      expect(totalSize).toBe(tasks.length);
      return tasks.map(({ metadata }: { metadata: Record<string, string[]> }) => metadata[LABELS]);
    };
    expect(await find({ labels: ['{"text":"one"}', 'eu'] })).toEqual([['eu', '{"text":"one"}']]);
    expect(await find({ labels: ['eu'], code: 'NO_FUNDS' })).toHaveLength(2);
    expect(await find({ labels: ['eu', 'us'] })).toEqual([]);
    expect(await find({ skill: 'pay' })).toEqual([]);
    for (const params of [{ labels: ['eu'] }, { skill: 'pay' }, { code: 'NO_FUNDS' }])
      await expect(call('ListTasks', params)).rejects.toMatchObject({
        reason: 'INVALID_PARAMS',
        details: [{ fieldViolations: [{ field: Object.keys(params)[0] }] }],
      });
  });

  it('finds by context and by status, both if both are given [R-LIST-08] [R-LIST-09]', async () => {
    const { call } = await serve(agent);
    const send = async (text: string, contextId: string) =>
      (await call('SendMessage', { message: say(text, { contextId }) })).task.id;
    const done = await send('x', 'c1');
    const asked = await send('ask', 'c1');
    const other = await send('ask', 'c2');
    const find = async (params: object) => {
      const { tasks, totalSize } = await call('ListTasks', params);
      expect(totalSize).toBe(tasks.length);
      return tasks.map(({ id }: { id: string }) => id).sort();
    };
    expect(await find({ contextId: 'c1' })).toEqual([done, asked].sort());
    expect(await find({ status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([asked, other].sort());
    expect(await find({ contextId: 'c1', status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([asked]);
    expect(await find({ status: 'TASK_STATE_UNSPECIFIED' })).toHaveLength(3);
    expect(await find({ contextId: 'C1' })).toEqual([]);
    expect(await find({ status: 'TASK_STATE_CANCELED' })).toEqual([]);
    await expect(call('ListTasks', { status: 'TASK_STATE_LOST' })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });

  it('takes a page token only for the query it was given out for [R-LIST-10]', async () => {
    const { call } = await serve(agent);
    for (const text of ['a', 'b', 'c']) await call('SendMessage', { message: say(text, { contextId: 'c' }) });
    const { nextPageToken: pageToken } = await call('ListTasks', { contextId: 'c', pageSize: 2 });
    const refused = { reason: 'INVALID_PARAMS', details: [{ fieldViolations: [{ field: 'pageToken' }] }] };
    for (const params of [
      { pageToken },
      { pageToken, contextId: 'd' },
      { pageToken, contextId: 'c', status: 'TASK_STATE_COMPLETED' },
      { pageToken: `${pageToken}x`, contextId: 'c' },
      { pageToken: pageToken.slice(2), contextId: 'c' },
      { pageToken: 'made-up', contextId: 'c' },
    ])
      await expect(call('ListTasks', params)).rejects.toMatchObject(refused);
    const last = await call('ListTasks', { contextId: 'c', pageToken, pageSize: 5 });
    expect(last).toMatchObject({ nextPageToken: '', tasks: [{}] });
  });

  it('does not list answers that are no tasks', async () => {
    const { call } = await serve(() => reply('Hi'));
    await call('SendMessage', { message: say('hi') });
    expect((await call('ListTasks', {})).totalSize).toBe(0);
  });
});
