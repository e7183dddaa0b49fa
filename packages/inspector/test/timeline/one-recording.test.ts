import { describe, expect, it } from 'vitest';
import type { Entry, TimelineUpdate } from '../../src/api/timeline.ts';
import { Recording } from '../../src/timeline/recording.ts';
import { at, isLive, message, read, settled, statusEvent, stream, taskEvent } from './written-stream.ts';

/** One line for each entry. */
const lineOf = ({ seq, at: when, message: said, event, notice }: Entry) => {
  const what = said
    ? `message ${said.messageId}`
    : notice
      ? `${notice.type} ${Object.values(notice).slice(1).join(' ')}`
      : Object.keys(event!)[0];
  return `${seq} ${what}${when === at ? ' at' : when ? '' : ' before'}`;
};

describe('the recording of a task', () => {
  it('has what was said before it was seen once, and then each event', async () => {
    const recording = new Recording();
    const { open, send, opened } = stream();
    recording.sent(message('a'));
    recording.follow(open);
    expect([recording.task, recording.row]).toEqual([undefined, undefined]);
    send(
      taskEvent('WORKING', {
        history: [message('a'), message('b')],
        artifacts: [{ artifactId: 'x', parts: [] }],
      }),
      statusEvent('WORKING', at),
      taskEvent('WORKING'),
      statusEvent('COMPLETED'),
    );
    await expect
      .poll(() => recording.entries.map(lineOf))
      .toEqual([
        '1 message a',
        '2 message b before',
        '3 artifactUpdate before',
        '4 statusUpdate at',
        '5 statusUpdate at',
        '6 task',
        '7 statusUpdate',
      ]);
    expect(recording.entries[2]).toEqual({
      seq: 3,
      event: { artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'x', parts: [] } } },
    });
    expect(recording.row).toMatchObject({ id: 't', contextId: 'c', state: 'TASK_STATE_COMPLETED' });
    expect(opened).toHaveLength(1);
    // A task that has ended is not followed again.
    recording.follow(open);
    await settled();
    expect(opened).toHaveLength(1);
    recording.stop();
  });

  it('keeps its own copy of what it was told', async () => {
    const recording = new Recording();
    const said = message('a');
    recording.sent(said);
    said.parts.length = 0;
    expect(recording.entries[0]!.message).toEqual(message('a'));
  });

  it('goes on with the next stream when the one before is over, from its last event', async () => {
    const recording = new Recording();
    const [first, second] = [stream(), stream()];
    recording.follow(first.open);
    first.send(taskEvent('INPUT_REQUIRED'));
    await expect.poll(() => recording.task?.id).toBe('t');
    recording.follow(second.open);
    await settled();
    expect(second.opened).toHaveLength(0);
    first.end();
    await expect.poll(() => second.opened.length).toBe(1);
    expect([first.opened[0]!.lastEventId, second.opened[0]!.lastEventId]).toEqual([undefined, '1']);
    recording.stop();
    expect(second.opened[0]!.signal.aborted).toBe(true);
  });

  it('does not go on after it failed or was stopped, and says why', async () => {
    const recording = new Recording();
    const [first, second] = [stream(), stream()];
    recording.follow(first.open);
    recording.follow(second.open);
    first.fail(new Error('Broken'));
    await expect.poll(() => String(recording.failure)).toBe('Error: Broken');
    await settled();
    expect(second.opened).toHaveLength(0);
    // It can be followed again.
    recording.follow(second.open);
    expect(recording.failure).toBeUndefined();
    await expect.poll(() => second.opened.length).toBe(1);
    recording.follow(first.open);
    recording.stop();
    await settled();
    await settled();
    expect([first.opened.length, recording.failure]).toEqual([1, undefined]);
  });

  it('has begun with a task, an answer or a failure, or after some time', async () => {
    const cases: [string, (of: ReturnType<typeof stream>) => void][] = [
      ['task', ({ send }) => send(taskEvent('WORKING'))],
      ['answer', ({ send }) => send({ message: message('a') })],
      ['failure', ({ fail }) => fail(new Error('Broken'))],
    ];
    for (const [what, begin] of cases) {
      const recording = new Recording();
      const written = stream();
      recording.follow(written.open);
      const begun = recording.begun(600_000);
      begin(written);
      await begun;
      const { task, answer, failure } = recording;
      expect({ task, answer, failure }[what]).toBeDefined();
      await recording.begun(600_000);
      recording.stop();
    }
    const silent = new Recording();
    await silent.begun(1);
    expect(silent.task).toBeUndefined();
  });

  it('tells each break of its connection once, and when it goes on', async () => {
    const recording = new Recording();
    const { open, opened, send } = stream();
    recording.follow(open);
    await settled();
    const { tap } = opened[0]!;
    const ask = (isStream: boolean, operation: string, after?: string) =>
      tap.onRequest!({ isStream, operation, after });
    const notices = () =>
      recording.entries.flatMap(({ notice }) => (notice ? [lineOf({ seq: 0, notice })] : []));
    ask(true, 'SubscribeToTask');
    ask(false, 'GetTask');
    tap.onOpen!();
    tap.onClose!('before there is a task');
    expect(notices()).toEqual([]);
    send(taskEvent('WORKING'));
    await expect.poll(() => recording.task?.id).toBe('t');
    tap.onClose!();
    expect(notices()).toEqual([]);
    tap.onClose!('ECONNRESET');
    tap.onClose!('ECONNRESET');
    ask(true, 'SubscribeToTask', '7');
    ask(true, 'SubscribeToTask', '7');
    ask(false, 'GetTask');
    tap.onOpen!();
    tap.onOpen!();
    tap.onClose!('again');
    ask(true, 'SubscribeToTask');
    tap.onOpen!();
    const sofar = notices().length;
    ask(false, 'SendMessage');
    expect(notices()).toHaveLength(sofar);
    ask(false, 'GetTask');
    ask(false, 'GetTask');
    expect(notices().map((line) => line.replace(/ before$/, ''))).toEqual([
      '0 connection agent lost ECONNRESET',
      '0 connection agent reconnecting 7',
      '0 connection agent resumed',
      '0 connection agent lost again',
      '0 connection agent reconnecting',
      '0 connection agent resumed',
      '0 connection agent polling',
    ]);
    send(statusEvent('COMPLETED'));
    await expect.poll(() => recording.task?.status.state).toBe('TASK_STATE_COMPLETED');
    const before = notices().length;
    tap.onClose!('after the end');
    expect(notices()).toHaveLength(before);
    recording.stop();
  });

  it('tells of no break that it made itself', async () => {
    const recording = new Recording();
    const { open, opened, send } = stream();
    recording.follow(open);
    send(taskEvent('WORKING'));
    await expect.poll(() => recording.task?.id).toBe('t');
    recording.stop();
    opened[0]!.tap.onClose!('aborted');
    expect(recording.entries.some(({ notice }) => notice)).toBe(false);
  });

  it('keeps 20,000 entries', async () => {
    const recording = new Recording();
    recording.sent(message('x'));
    recording.entries.push(...Array<Entry>(19_998).fill(recording.entries[0]!));
    const { open, send } = stream();
    recording.follow(open);
    send(statusEvent('WORKING'));
    await expect
      .poll(() => String(recording.failure))
      .toBe('Error: The inspector keeps no more entries of this task');
    recording.stop();
  });
});

describe('the feed of a recording', () => {
  it('has what the reader does not know, 500 at a time, and what follows', async () => {
    const recording = new Recording();
    for (let n = 1; n <= 1_001; n += 1) recording.sent(message(`m${n}`));
    const feed = (after: number, source: string | null) => (signal: AbortSignal) =>
      recording.feed({ after, source }, signal);
    const counts = (updates: readonly TimelineUpdate[]) =>
      updates.map((update) => (update.type === 'entries' ? update.entries.length : update.type));
    const all = await read(feed(0, null), isLive);
    expect(all[0]).toMatchObject({ type: 'open', source: recording.id, kind: 'recording', isRestart: false });
    expect(counts(all)).toEqual(['open', 500, 500, 1, 'live']);
    expect(counts(await read(feed(1_000, recording.id), isLive))).toEqual(['open', 1, 'live']);
    const again = await read(feed(1_000, 'another'), isLive);
    expect([again[0], counts(again)]).toMatchObject([{ isRestart: true }, ['open', 500, 500, 1, 'live']]);
    let lives = 0;
    const more = await read(
      feed(1_001, recording.id),
      (update) => isLive(update) && lives > 1,
      (update) => {
        if (isLive(update)) lives += 1;
        if (isLive(update) && lives === 1) queueMicrotask(() => recording.sent(message('late')));
      },
    );
    expect(counts(more)).toEqual(['open', 'live', 1, 'live']);
    recording.stop();
  });
});
