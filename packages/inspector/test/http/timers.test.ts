import { EventEmitter } from 'node:events';
import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { holdTimers } from '../../../../test/kit/held-timers.ts';
import { inspected } from '../../src/agents/inspected.ts';
import type { Exchange } from '../../src/api/wire.ts';
import { streamLines } from '../../src/http/reply.ts';
import { Inspection } from '../../src/inspection.ts';
import { sendMessage } from '../../src/routes/act-routes.ts';
import { exchangeFeed } from '../../src/routes/wire-feeds.ts';
import { recordingsOf } from '../../src/timeline/recordings.ts';
import { storeTimeline } from '../../src/timeline/store-timeline.ts';
import { WireLog } from '../../src/wire/wire-log.ts';
import { settled, stream } from '../timeline/written-stream.ts';

/** A response that keeps what is written. */
function response(more: object = {}) {
  const written: string[] = [];
  const made = Object.assign(new EventEmitter(), {
    writeHead: () => written.push('head'),
    write: (text: string) => written.push(text) > 0,
    end: () => written.push('end'),
    ...more,
  });
  return { made, written };
}

it('an idle feed sends an empty line every ten seconds, until it ends', async () => {
  const timers = holdTimers((ms) => ms === 10_000);
  const { made, written } = response();
  const gate = Promise.withResolvers<void>();
  const fed = streamLines(made as never, async function* () {
    await gate.promise;
    yield 1;
  });
  timers.fire(10_000);
  timers.fire(10_000);
  expect(written).toEqual(['head', '\n', '\n', '\n']);
  gate.resolve();
  await fed;
  expect(written.slice(4)).toEqual(['1\n', 'end']);
  expect(timers.open()).toEqual([]);
});

it('a feed whose reader left before it began writes nothing, and asks for nothing', async () => {
  const timers = holdTimers((ms) => ms === 10_000);
  const { made, written } = response({ destroyed: true });
  await streamLines(made as never, async function* () {
    yield expect.unreachable('It is read');
  });
  expect([written, timers.open()]).toEqual([[], []]);
});

it('a feed writes nothing after its reader has left', async () => {
  const { made, written } = response();
  await streamLines(made as never, async function* () {
    yield 1;
    made.emit('close');
    yield 2;
    expect.unreachable('It is read');
  });
  expect(written).toEqual(['head', '\n', '1\n', 'end']);
});

it('changes of requests are sent five times a second at most, each exchange as it is then', async () => {
  const timers = holdTimers((ms) => ms === 200 || ms === 60_000);
  const log = new WireLog<Exchange>();
  const draft = { operation: 'x', method: 'GET', url: 'http://a', requestHeaders: {}, shell: '' };
  const first = log.add(draft);
  const reading = new AbortController();
  const feed = exchangeFeed(log, reading.signal);
  const numbers = async () => {
    const { value } = await feed.next();
    return value?.type === 'exchanges' && value.exchanges.map(({ number, status }) => [number, status]);
  };
  expect(await feed.next()).toMatchObject({ value: { type: 'open', exchanges: 300, bytes: null } });
  expect(await numbers()).toEqual([[1, undefined]]);
  const second = numbers();
  await settled();
  for (const status of ['200', '404']) {
    first.status = status;
    log.changed(first);
  }
  await settled();
  expect(timers.open()).toEqual(['200 held']);
  timers.fire(200);
  expect(await second).toEqual([[1, '404']]);
  const third = numbers();
  await settled();
  timers.fire(200);
  await settled();
  // Nothing changed meanwhile.
  expect(timers.open()).toEqual(['60000 held']);
  log.add(draft);
  expect(await third).toEqual([[2, undefined]]);
  const ended = feed.next();
  await settled();
  reading.abort();
  expect([(await ended).done, timers.open()]).toEqual([true, []]);
});

it('a fact is shown when the store tells of it, before the next look', async () => {
  const timers = holdTimers((ms) => ms === 1_000);
  const store = memoryStore();
  const { store: inspectedStore } = inspected({ name: 'x', store }, () => false);
  const { scope } = inspectedStore!.scopes[0]!;
  const at = '2026-01-01T00:00:00.000Z';
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'x' }] };
  let head: Head | undefined;
  const write = async (...facts: Fact[]) => {
    const expectedVersion = head?.version ?? 0;
    head = facts.reduce<Head | undefined>(headOf, head);
    const commitId = crypto.randomUUID();
    await store.commit({
      scope,
      taskId: 't',
      commitId,
      expectedVersion,
      facts,
      head: head!,
      turn: { queue: 'x' },
    });
  };
  const fact = { format: FACT_FORMAT, at } as const;
  await write(
    { ...fact, type: 'message-received', message },
    { ...fact, type: 'task-created', taskId: 't', contextId: 'c' },
  );
  const reading = new AbortController();
  const feed = storeTimeline(
    inspectedStore!,
    scope,
    't',
    { after: 2, source: await store.identity() },
    reading.signal,
  );
  const types: string[] = [];
  while (types.at(-1) !== 'live') types.push((await feed.next()).value!.type);
  const next = feed.next();
  await expect.poll(timers.open).toEqual(['1000 held']);
  await write({ ...fact, type: 'status-changed', status: { state: 'TASK_STATE_WORKING' } });
  expect((await next).value).toMatchObject({ type: 'entries', entries: [{ seq: 3 }] });
  expect(types).toEqual(['open', 'beside', 'live']);
  reading.abort();
  await feed.return();
});

it('an agent that is removed, or whose inspector closes, is followed no more', async () => {
  const far = new Inspection([{ name: 'far', url: 'http://127.0.0.1:9' }]);
  const more = Object.assign(far.add({ url: 'http://127.0.0.1:8' }), { isAdded: true as const });
  const streams = far.agents.map(({ recordings }) => {
    const { open, opened } = stream();
    recordings!.of('t').follow(open);
    return opened;
  });
  await settled();
  far.remove(more.id);
  expect(streams.map(([one]) => one!.signal.aborted)).toEqual([false, true]);
  far.close();
  expect(streams.map(([one]) => one!.signal.aborted)).toEqual([true, true]);
});

it('a message that is followed by silence is given up after a minute', async () => {
  const timers = holdTimers((ms) => ms === 60_000);
  const { open, opened } = stream();
  const client = {
    card: {},
    stream: (_: unknown, options: never) => {
      const opening = open({}, options);
      return {
        async *[Symbol.asyncIterator]() {
          yield* (await opening) as unknown as AsyncIterable<never>;
        },
      };
    },
  };
  const link = { client: async () => client, connect: async () => client } as never;
  const recordings = recordingsOf(link);
  const sending = sendMessage(link, recordings, { parts: [{ text: 'x' }] });
  const refused = expect(sending).rejects.toThrow('The agent said nothing');
  await settled();
  timers.fire(60_000);
  await refused;
  expect([opened[0]!.signal.aborted, recordings.rows()]).toEqual([true, []]);
});
