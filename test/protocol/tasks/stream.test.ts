import { setTimeout as pause } from 'node:timers/promises';
import {
  append,
  artifact,
  authRequired,
  completed,
  failed,
  inputRequired,
  rejected,
  reply,
  taskAgent,
  working,
} from '@batonjs/server';
import { expect, it } from 'vitest';
import { brief, collect, type Seen, say } from '../../kit/rpc.ts';
import { everywhere, gate, onEveryAdapter } from '../peer.ts';

everywhere('SendStreamingMessage', (serve) => {
  it('is one message and its end, from an agent that just answers [R-STR-01]', async () => {
    const { stream } = await serve(() => reply('Hi'));
    const events: Seen[] = [];
    for await (const seen of stream('SendStreamingMessage', { message: say('hi') })) events.push(seen);
    expect(events.map(({ event }) => event)).toEqual([
      { message: expect.objectContaining({ role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] }) },
    ]);
  });

  it('starts with the task and ends with its terminal status [R-STR-01] [R-STR-02] [R-STR-03]', async () => {
    const { stream } = await serve(async function* () {
      yield working('On it');
      yield artifact('a', 'one');
      yield append('a', 'two');
      yield artifact('b', 'three');
      yield completed('Done');
    });
    expect(await collect(stream('SendStreamingMessage', { message: say('go') }))).toEqual([
      'task SUBMITTED',
      'WORKING',
      'a:one',
      'a:two',
      'b:three',
      'COMPLETED',
    ]);
  });

  it.each([
    ['FAILED', failed('No')],
    ['REJECTED', rejected('No')],
  ])('ends with %s too [R-STR-02]', async (state, last) => {
    const { stream } = await serve(async function* () {
      yield working();
      yield last;
    });
    const words = await collect(stream('SendStreamingMessage', { message: say('go') }));
    expect(words.at(-1)).toBe(state);
    expect(words).toHaveLength(3);
  });

  it("says all that an event has to say, in the wire's own names [R-DM-08] [R-DM-09]", async () => {
    const { stream } = await serve(async function* () {
      yield { ...artifact({ artifactId: 'a', name: 'A' }, 'x'), metadata: { n: 1 } };
      yield append({ artifactId: 'a', lastChunk: true }, 'y');
      yield completed('Done', { m: 2 });
    });
    const events: Seen[] = [];
    for await (const seen of stream('SendStreamingMessage', { message: say('go') })) events.push(seen);
    const [first, ...rest] = events.map(({ event }) => event);
    const task = first && 'task' in first ? first.task : undefined;
    const ids = { taskId: task?.id, contextId: task?.contextId };
    expect(rest).toEqual([
      {
        artifactUpdate: {
          ...ids,
          artifact: { artifactId: 'a', name: 'A', parts: [{ text: 'x' }] },
          metadata: { n: 1 },
        },
      },
      {
        artifactUpdate: {
          ...ids,
          artifact: { artifactId: 'a', parts: [{ text: 'y' }] },
          append: true,
          lastChunk: true,
        },
      },
      {
        statusUpdate: {
          ...ids,
          status: {
            state: 'TASK_STATE_COMPLETED',
            message: expect.objectContaining({ role: 'ROLE_AGENT', ...ids }),
            timestamp: expect.stringMatching(/Z$/),
          },
          metadata: { m: 2 },
        },
      },
    ]);
  });

  it('sends each event when it happens [R-STR-04]', async () => {
    const gates = [gate(), gate(), gate()];
    const { stream } = await serve(async function* () {
      for (const [index, { opened }] of gates.entries()) {
        await opened;
        yield working(`${index}`);
      }
      yield completed();
    });
    const words: string[] = [];
    for await (const { event } of stream('SendStreamingMessage', { message: say('go') })) {
      words.push(brief(event));
      // The next read happens only after this.
      gates[words.length - 1]?.open();
    }
    expect(words).toEqual(['task SUBMITTED', 'WORKING', 'WORKING', 'WORKING', 'COMPLETED']);
  });

  it('sends every follower the same, in the same order; one may leave [R-STR-05]', async () => {
    const held = gate();
    const { call, stream } = await serve(async function* () {
      yield working();
      await held.opened;
      for (let n = 0; n < 50; n++) yield n === 0 ? artifact('a', '0') : append('a', `${n}`);
      yield completed();
    });
    const { task } = await call('SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    const followers = Array.from({ length: 3 }, () => stream('SubscribeToTask', { id: task.id }));
    const firsts = await Promise.all(followers.map((follower) => follower.next()));
    expect(firsts.every(({ value }) => value && 'task' in value.event)).toBe(true);
    const leaver = stream('SubscribeToTask', { id: task.id });
    await leaver.next();
    await leaver.return(undefined);
    held.open();
    const seen = await Promise.all(followers.map(collect));
    const chunks = Array.from({ length: 50 }, (_, n) => `a:${n}`);
    for (const words of seen)
      expect(words.filter((word) => word !== 'WORKING')).toEqual([...chunks, 'COMPLETED']);
  });

  it('ends for a client that leaves; the task goes on [R-STR-06]', async () => {
    const held = gate();
    const { call, stream } = await serve(async function* () {
      yield working();
      await held.opened;
      yield completed('All the same');
    });
    let id = '';
    for await (const { event } of stream('SendStreamingMessage', { message: say('go') })) {
      if ('task' in event) id = event.task.id;
      break;
    }
    held.open();
    await expect.poll(async () => (await call('GetTask', { id })).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('ends at INPUT_REQUIRED, stays open at AUTH_REQUIRED [R-STR-07] [R-STATE-15]', async () => {
    const { stream } = await serve(async function* ({ text }) {
      if (text === 'ask') return yield inputRequired('Well?');
      yield authRequired('Sign in at …');
      yield working('Thanks');
      yield completed();
    });
    expect(await collect(stream('SendStreamingMessage', { message: say('ask') }))).toEqual([
      'task SUBMITTED',
      'INPUT_REQUIRED',
    ]);
    expect(await collect(stream('SendStreamingMessage', { message: say('auth') }))).toEqual([
      'task SUBMITTED',
      'AUTH_REQUIRED',
      'WORKING',
      'COMPLETED',
    ]);
  });

  it('stays open at INPUT_REQUIRED where that is asked for [R-STR-07]', async () => {
    const { call, stream } = await serve(
      async function* ({ messages }) {
        if (messages.length === 1) return yield inputRequired('Well?');
        yield completed();
      },
      { streams: { closeOnInputRequired: false } },
    );
    const words: string[] = [];
    let id = '';
    for await (const { event } of stream('SendStreamingMessage', { message: say('ask') })) {
      words.push(brief(event));
      if ('task' in event) id = event.task.id;
      if (words.at(-1) === 'INPUT_REQUIRED')
        await call('SendMessage', { message: say('so', { taskId: id }) });
    }
    expect(words).toEqual(['task SUBMITTED', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
  });

  it('limits the history of the task it starts with [R-STR-09]', async () => {
    const { call, stream } = await serve(async function* ({ messages }) {
      if (messages.length === 1) return yield inputRequired('Well?');
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('one') });
    const follow = stream('SendStreamingMessage', {
      message: say('two', { taskId: task.id }),
      configuration: { historyLength: 1 },
    });
    const first = (await follow.next()).value?.event;
    expect(first).toMatchObject({ task: { history: [{ parts: [{ text: 'two' }] }] } });
    await follow.return(undefined);
  });

  it('of a follow-up starts with the task as it is, then only new events [R-STR-10]', async () => {
    const { call, stream } = await serve(async function* ({ messages }) {
      if (messages.length === 1) {
        yield artifact('old', 'x');
        return yield inputRequired('Well?');
      }
      yield artifact('new', 'y');
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('one') });
    const events: Seen[] = [];
    for await (const seen of stream('SendStreamingMessage', { message: say('two', { taskId: task.id }) }))
      events.push(seen);
    expect(events[0]?.event).toMatchObject({
      task: { id: task.id, artifacts: [{ artifactId: 'old' }] },
    });
    const words = events.map(({ event }) => brief(event));
    expect(words.slice(1)).not.toContain('old:x');
    expect(words.slice(-2)).toEqual(['new:y', 'COMPLETED']);
  });

  it('is no stream but an error if nothing was sent yet [R-STR-12] [R-RPC-08]', async () => {
    const { stream, call } = await serve(async function* () {
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('go') });
    const refusals = [
      [{ message: say('more', { taskId: task.id }) }, 'UNSUPPORTED_OPERATION'],
      [{ message: say('more', { taskId: 'nobody' }) }, 'TASK_NOT_FOUND'],
      [{ message: { parts: [] } }, 'INVALID_PARAMS'],
    ] as const;
    for (const [params, reason] of refusals)
      await expect(stream('SendStreamingMessage', params).next()).rejects.toMatchObject({ reason });
  });

  it('is refused by an agent that does not stream [R-OP-06]', async () => {
    const { stream } = await serve(() => reply('Hi'), {
      card: { name: 'Still', description: 'x', capabilities: { streaming: false } },
    });
    for (const [operation, params] of [
      ['SendStreamingMessage', { message: say('hi') }],
      ['SubscribeToTask', { id: 'x' }],
    ] as const)
      await expect(stream(operation, params).next()).rejects.toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
      });
  });

  it('shows an agent that fails in the middle by the status of the task [R-STR-12] [R-STR-13]', async () => {
    const { stream } = await serve(async function* () {
      yield artifact('a', 'x');
      throw new Error('no');
    });
    expect(await collect(stream('SendStreamingMessage', { message: say('go') }))).toEqual([
      'task SUBMITTED',
      'a:x',
      'FAILED',
    ]);
  });

  it('gives every event an id that grows [R-SSE-03]', async () => {
    const { stream } = await serve(async function* () {
      yield working();
      yield artifact('a', 'x');
      yield completed();
    });
    const versions: number[] = [];
    const logs = new Set<string>();
    for await (const { id = '' } of stream('SendStreamingMessage', { message: say('go') })) {
      const dot = id.lastIndexOf('.');
      logs.add(id.slice(0, dot));
      versions.push(Number(id.slice(dot + 1).split('~', 1)[0]));
    }
    expect(logs.size).toBe(1);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(versions).toHaveLength(4);
  });
});

onEveryAdapter('A stream on which nothing happens', (serve) => {
  it('is kept open by comments, which are no events [R-SSE-02]', async () => {
    const held = gate();
    const agent = taskAgent(async function* () {
      await held.opened;
      yield completed();
    });
    // The rest of fifteen seconds passes in one millisecond.
    let skipped = 0;
    const monotonic = () => performance.now() + skipped;
    const sleep = async (ms: number, signal?: AbortSignal) => {
      const isSkipped = ms > 14_000 && ms <= 15_000;
      await pause(isSkipped ? 1 : Math.min(ms, 2 ** 31 - 1), undefined, { signal, ref: false }).catch(
        () => {},
      );
      if (isSkipped) skipped += ms;
    };
    const { fetch } = await serve(agent, { clock: { sleep, monotonic } });
    const response = await fetch('/message:stream', {
      method: 'POST',
      headers: { 'a2a-version': '1.0', 'content-type': 'application/json' },
      body: JSON.stringify({ message: say('go') }),
    });
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (text.includes(': ping\n\n: ping\n\n')) held.open();
    }
    const blocks = text.split('\n\n').filter((block) => block !== '' && block !== ': ping');
    expect(blocks).toHaveLength(2);
    for (const block of blocks) expect(block).toMatch(/^id: .+\ndata: .+$/);
  });
});
