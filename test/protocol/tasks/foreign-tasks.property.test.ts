import { randomUUID } from 'node:crypto';
import { applyEvent } from '@batonjs/client';
import type { Message, Task } from '@batonjs/protocol';
import type { OperationName } from '@batonjs/protocol/operations';
import { type Agent, artifact, completed, inputRequired, reply, type Turn, working } from '@batonjs/server';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { repetitions } from '../../kit/repetitions.ts';
import { type Seen, say } from '../../kit/rpc.ts';
import { untilAborted } from '../../kit/until-aborted.ts';
import { everywhere, type Peer } from '../peer.ts';

/** All names of a task that another caller could learn. */
interface Names {
  readonly taskId: string;
  readonly contextId: string;
  readonly messageId: string;
  readonly configId: string;
  /** A position in its stream. */
  readonly eventId: string;
}

/** An operation on what others own; `pick` says on which of their tasks. */
interface Move {
  readonly operation: OperationName;
  readonly params: (names: Names, pageToken: string) => object;
  readonly lastEventId?: boolean;
  readonly pick: number;
}

const url = 'http://127.0.0.1:9/hook';
const message = (more: (names: Names) => Partial<Message>) => (names: Names) => ({
  message: { ...say('tell'), ...more(names) },
});
/** What the owner said. */
const parts: Message['parts'] = [{ text: 'done' }];

/** How a caller may try to reach a task of another caller: by its id, its context, a reference, a message sent again, a webhook … */
const reaches: readonly Omit<Move, 'pick'>[] = [
  { operation: 'GetTask', params: ({ taskId }) => ({ id: taskId }) },
  { operation: 'GetTask', params: ({ taskId }) => ({ id: taskId, historyLength: 0 }) },
  { operation: 'GetTask', params: ({ messageId }) => ({ id: messageId }) },
  { operation: 'CancelTask', params: ({ taskId }) => ({ id: taskId }) },
  { operation: 'SubscribeToTask', params: ({ taskId }) => ({ id: taskId }) },
  { operation: 'SubscribeToTask', params: ({ taskId }) => ({ id: taskId }), lastEventId: true },
  { operation: 'ListTasks', params: () => ({ includeArtifacts: true, historyLength: 10 }) },
  { operation: 'ListTasks', params: ({ contextId }) => ({ contextId }) },
  { operation: 'ListTasks', params: ({ contextId }) => ({ contextId, status: 'TASK_STATE_WORKING' }) },
  { operation: 'ListTasks', params: (_, pageToken) => ({ pageSize: 1, pageToken }) },
  ...(['SendMessage', 'SendStreamingMessage'] as const).flatMap((operation) => [
    { operation, params: message(({ taskId }) => ({ taskId })) },
    { operation, params: message(({ taskId, contextId }) => ({ taskId, contextId })) },
    { operation, params: message(({ taskId, messageId }) => ({ taskId, messageId, parts })) },
    { operation, params: message(({ contextId }) => ({ contextId })) },
    { operation, params: message(({ taskId }) => ({ referenceTaskIds: [taskId] })) },
    { operation, params: message(({ taskId, contextId }) => ({ contextId, referenceTaskIds: [taskId] })) },
    {
      operation,
      params: message(({ taskId }) => ({ parts: [{ text: 'tell', metadata: { taskId, artifactId: 'a' } }] })),
    },
    { operation, params: message(({ messageId }) => ({ messageId })) },
    { operation, params: message(({ messageId, contextId }) => ({ messageId, contextId, parts })) },
    {
      operation,
      params: (names: Names) => ({
        ...message(({ taskId }) => ({ taskId }))(names),
        configuration: { taskPushNotificationConfig: { url, id: names.configId } },
      }),
    },
  ]),
  { operation: 'CreateTaskPushNotificationConfig', params: ({ taskId }) => ({ taskId, url }) },
  {
    operation: 'CreateTaskPushNotificationConfig',
    params: ({ taskId, configId: id }) => ({ taskId, id, url }),
  },
  { operation: 'GetTaskPushNotificationConfig', params: ({ taskId, configId: id }) => ({ taskId, id }) },
  { operation: 'ListTaskPushNotificationConfigs', params: ({ taskId }) => ({ taskId }) },
  { operation: 'DeleteTaskPushNotificationConfig', params: ({ taskId, configId: id }) => ({ taskId, id }) },
];

const moves = fc.array(
  fc
    .record({ reach: fc.constantFrom(...reaches), pick: fc.nat({ max: 2 }) })
    .map(({ reach, pick }): Move => ({ ...reach, pick })),
  { minLength: 1, maxLength: 4 },
);

/** Tells all that an agent gets to see. */
async function* report({ context, references, messages, task }: Turn) {
  const [tasks, said, { tasks: found, artifacts, missing }] = await Promise.all([
    context.tasks(),
    context.messages(),
    references(),
  ]);
  const texts = [...said, ...messages].map(({ parts }) => JSON.stringify(parts));
  yield artifact('seen', JSON.stringify([tasks, found, artifacts, missing.length, texts, task?.artifacts]));
  yield completed();
}

const agent: Agent = (turn) => {
  if (turn.text === 'hi') return reply('Hi');
  if (turn.text === 'tell') return report(turn);
  return (async function* () {
    yield working(turn.text);
    yield artifact('a', `secret of ${turn.caller.name}`);
    if (turn.text.startsWith('hold')) return await untilAborted(turn.signal);
    yield turn.text.startsWith('ask') ? inputRequired('Well?') : completed(turn.text);
  })();
};

const who = (name: string) => ({ authorization: name });

/** Tasks of one caller in every state that matters, each with a webhook. */
async function own({ call, stream }: Peer, name: string): Promise<Names[]> {
  const start = async (text: string): Promise<Names> => {
    const sent = say([{ text }]);
    const configuration = { returnImmediately: text.startsWith('hold') };
    const { task } = await call('SendMessage', { message: sent, configuration }, who(name));
    const config = await call('CreateTaskPushNotificationConfig', { taskId: task.id, url }, who(name));
    const resumed = stream('SubscribeToTask', { id: task.id }, { ...who(name), 'last-event-id': '0' });
    const { value } = await resumed.next();
    await resumed.return(undefined);
    const { id: taskId, contextId } = task;
    return { taskId, contextId, messageId: sent.messageId, configId: config.id, eventId: value.id };
  };
  const all = [await start('done'), await start('ask'), await start('hold')];
  // From here on nothing happens by itself.
  await vi.waitFor(async () => {
    const task = await call('GetTask', { id: all[2]!.taskId }, who(name));
    expect(task.artifacts).toHaveLength(1);
  });
  return all;
}

const nowhere = (): Names => ({
  taskId: randomUUID(),
  contextId: randomUUID(),
  messageId: `m-${randomUUID()}`,
  configId: randomUUID(),
  eventId: `${randomUUID()}.1`,
});

/** The token of a page that no caller was given. */
const noToken = Buffer.from('["2026-01-01T00:00:00.000Z","x","x"]').toString('base64url');

/** Tasks that end in the same millisecond are listed in the order of their ids, and those are random. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * What a stream says at its end. It depends on time which events it says it in: an artifact is in the first task already,
 * or comes after it.
 */
async function told(stream: AsyncIterable<Seen>) {
  let task: Task | undefined;
  const messages: Message[] = [];
  for await (const { event } of stream)
    if ('message' in event) messages.push(event.message);
    else task = applyEvent(task, event);
  return { task, messages };
}

/** For `JSON.stringify`: the order of members says nothing, and depends on that of the events. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** What a caller gets, move by move, with every id and time replaced by its number. */
async function answersTo(
  peer: Peer,
  caller: string,
  script: readonly Move[],
  all: Names[],
  pageToken: string,
) {
  const answers: unknown[] = [];
  for (const { operation, params, lastEventId, pick } of script) {
    await nextMillisecond();
    const names = all[pick]!;
    const headers = { ...who(caller), ...(lastEventId && { 'last-event-id': names.eventId }) };
    try {
      if (operation === 'SendStreamingMessage' || operation === 'SubscribeToTask') {
        answers.push(await told(peer.stream(operation, params(names, pageToken), headers)));
      } else answers.push(await peer.call(operation, params(names, pageToken), headers));
    } catch (error) {
      const { reason, message, metadata, details } = error as Record<string, unknown>;
      answers.push({ reason, message, metadata, details });
    }
  }
  const ids = new Map<string, string>();
  return JSON.stringify(answers, inOrder, 1)
    .replace(/\bm-[-\w]+/g, 'message')
    .replaceAll(caller, 'me')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (id) => {
      if (!ids.has(id)) ids.set(id, `#${ids.size}`);
      return ids.get(id)!;
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then');
}

/** Everything that the owner sees. */
const ownersView = async ({ call }: Peer, name: string, all: Names[]) => [
  await call('ListTasks', { includeArtifacts: true, historyLength: 100 }, who(name)),
  ...(await Promise.all(
    all.map(({ taskId }) => call('ListTaskPushNotificationConfigs', { taskId }, who(name))),
  )),
];

everywhere('Tasks of others', (serve) => {
  const options = {
    authenticate: ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
      headers.authorization
        ? { scope: headers.authorization, claims: { name: headers.authorization } }
        : undefined,
    push: { allow: ['127.0.0.1:9'], retry: { baseDelayMs: 1e9, maxDelayMs: 1e9 } },
    timeouts: {
      // The ones that are cancelled are not ours, so nothing ends by itself.
      cancelMs: 1,
    },
  };

  it('look like missing ones to every sequence of operations, and are left alone [R-OP-03] [R-OP-04] [R-CTX-08] [R-REF-02] [R-IDX-07] [R-PUSH-02] [R-PUSH-05]', async () => {
    const peer = await serve(agent, options);
    const ada = await own(peer, 'ada');
    const { nextPageToken } = await peer.call('ListTasks', { pageSize: 1 }, who('ada'));
    const before = await ownersView(peer, 'ada', ada);
    let callers = 0;
    await fc.assert(
      fc.asyncProperty(moves, async (script) => {
        // Two newcomers do the same, one with Ada's names, one with names that do not exist.
        const run = ++callers;
        const missing = ada.map(nowhere);
        const foreign = await answersTo(peer, `bob-${run}`, script, ada, nextPageToken);
        expect(foreign).toBe(await answersTo(peer, `eve-${run}`, script, missing, noToken));
        expect(foreign).not.toContain('secret of ada');
      }),
      { numRuns: repetitions(3, 100) },
    );
    expect(await ownersView(peer, 'ada', ada)).toEqual(before);
  });

  it('look like missing ones, whichever way one reaches for them [R-OP-03] [R-OP-04]', async () => {
    const peer = await serve(agent, options);
    const ada = await own(peer, 'ada');
    const { nextPageToken } = await peer.call('ListTasks', { pageSize: 1 }, who('ada'));
    for (const [n, reach] of reaches.entries())
      for (const pick of repetitions(0, 1) ? [0, 1, 2] : [n % 3]) {
        const script = [{ ...reach, pick }];
        const foreign = await answersTo(peer, `bob-${n}-${pick}`, script, ada, nextPageToken);
        const missing = await answersTo(peer, `eve-${n}-${pick}`, script, ada.map(nowhere), noToken);
        expect(foreign, `${reach.operation} ${reach.params}`).toBe(missing);
      }
  });
});
