import { chunksOf } from '@batonjs/protocol/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { decodeSse, encodeSse, type SseEvent, sseHeartbeat } from '../src/index.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** A stream of these chunks, and whether its reader has left. */
function streamOf(chunks: Uint8Array[], { endless = false } = {}) {
  const state = { canceled: false };
  const rest = [...chunks];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = rest.shift();
      if (chunk) controller.enqueue(chunk);
      else if (!endless) controller.close();
    },
    cancel() {
      state.canceled = true;
    },
  });
  return { stream, state };
}

/** The text as a stream, cut before each of these byte positions. */
async function read(text: string, cuts: number[] = []): Promise<SseEvent[]> {
  const whole = bytes(text);
  const positions = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length].sort((a, b) => a - b);
  const chunks = positions.slice(1).map((end, index) => whole.slice(positions[index], end));
  return collect(streamOf(chunks).stream);
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const event of decodeSse(stream)) events.push(event);
  return events;
}

describe('encodeSse', () => {
  it('writes one event', () => {
    expect(encodeSse({ data: '{"a":1}' })).toBe('data: {"a":1}\n\n');
    expect(encodeSse({ data: 'x', id: 'p.7', event: 'e' })).toBe('id: p.7\nevent: e\ndata: x\n\n');
    expect(encodeSse({ data: 'a\nb\r\nc\rd' })).toBe('data: a\ndata: b\ndata: c\ndata: d\n\n');
  });

  it.each(['\n', '\r', '\r\n'])('gives every line a field of its own where lines end in %j alone', (end) => {
    expect(encodeSse({ data: `a${end}b` })).toBe('data: a\ndata: b\n\n');
    expect(encodeSse({ data: `${end}id: forged` })).toBe('data: \ndata: id: forged\n\n');
  });
});

describe('decodeSse', () => {
  it.each<[string, string, (string | SseEvent)[]]>([
    ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['all three in one stream', 'data: a\r\ndata: b\rdata: c\n\r\n', ['a\nb\nc']],
    ['a byte order mark', '\ufeffdata: a\n\n', ['a']],
    ['comments', ': hello\n\ndata: a\n:\n: ping\ndata: b\n\n', ['a\nb']],
    ['heartbeats', `${sseHeartbeat}data: a\n\n${sseHeartbeat}`, ['a']],
    ['no space after the colon', 'data:a\n\n', ['a']],
    ['only one space taken off', 'data:  a \n\n', [' a ']],
    ['colons in the data', 'data: {"a":"b: c"}\n\n', ['{"a":"b: c"}']],
    ['empty data', 'data\n\ndata:\n\n', ['', '']],
    ['many lines', 'data: {\ndata: "a": 1\ndata: }\n\n', ['{\n"a": 1\n}']],
    ['unknown fields', 'retry: 10\nfoo: bar\ndata: a\nfoo\n\n', ['a']],
    [
      'events without data',
      'event: ping\n\nid: 1\n\ndata: a\n\n',
      [{ data: 'a', id: '1', event: undefined }],
    ],
    [
      'a name for one event only',
      'event: x\ndata: a\n\ndata: b\n\n',
      [
        { data: 'a', event: 'x' },
        { data: 'b', event: undefined },
      ],
    ],
    [
      'an id that stays',
      'id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n',
      [
        { data: 'a', id: '1' },
        { data: 'b', id: '1' },
        { data: 'c', id: '' },
      ],
    ],
    ['an id with NUL, which is none', 'id: a\0b\ndata: a\n\n', [{ data: 'a', id: undefined }]],
    ['an event that the end cuts off', 'data: a\n\ndata: b\n', ['a']],
    ['more than one blank line', '\n\n\ndata: a\n\n\n\n', ['a']],
    ['line separators of Unicode, which are none', 'data: a\u2028b\u0085c\n\n', ['a\u2028b\u0085c']],
    ['nothing', '', []],
  ])('reads %s, however it is cut into chunks [R-SSE-01, R-SSE-02]', async (_, text, expected) => {
    const events = expected.map((event) =>
      expect.objectContaining(typeof event === 'string' ? { data: event } : event),
    );
    const everyByte = Array.from(bytes(text), (__, position) => position);
    for (const cuts of [[], everyByte, ...everyByte.map((cut) => [cut, cut])]) {
      expect(await read(text, cuts)).toEqual(events);
    }
  });

  it('reads what encodeSse wrote, in any chunks, also inside of characters', async () => {
    const event = fc.record(
      {
        data: fc.string({ unit: 'binary' }).map((data) => data.toWellFormed()),
        event: fc.constantFrom('x', 'ä y'),
      },
      { requiredKeys: ['data'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 5 }), fc.array(fc.nat()), async (events, cuts) => {
        const decoded = await read(events.map(encodeSse).join(sseHeartbeat), cuts);
        const lines = events.map(({ data, event: name }) => ({
          data: data.replace(/\r\n?/g, '\n'),
          event: name,
          id: undefined,
        }));
        expect(decoded).toEqual(lines);
      }),
      { numRuns: repetitions(30, 100) },
    );
  });

  it('hands out an event as soon as its blank line is there', async () => {
    const { stream, state } = streamOf([bytes('data: a\r\n\r'), bytes('\ndata: b\n')], { endless: true });
    const events = decodeSse(stream);
    expect(await events.next()).toMatchObject({ value: { data: 'a' } });
    await events.return();
    expect(state.canceled).toBe(true);
  });

  it('lets its reader leave though the source never stops', async () => {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes('data: 1\n\n')),
      cancel: () => new Promise(() => {}),
    });
    for await (const { data } of decodeSse(chunksOf(stream))) {
      expect(data).toBe('1');
      break;
    }
  }, 30_000);

  it('cancels the stream when the loop is left, also by an error', async () => {
    for (const leave of [() => undefined, () => Promise.reject(new Error('out'))]) {
      const { stream, state } = streamOf([bytes('data: a\n\ndata: b\n\n')], { endless: true });
      const run = async () => {
        for await (const { data } of decodeSse(stream)) {
          expect(data).toBe('a');
          await leave();
          break;
        }
      };
      await run().catch(() => undefined);
      expect(state.canceled).toBe(true);
    }
  });

  it('passes on the error of a stream that breaks', async () => {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes('data: a\n\n'));
      },
      pull(controller) {
        controller.error(new Error('connection lost'));
      },
    });
    const events = decodeSse(stream);
    expect(await events.next()).toMatchObject({ value: { data: 'a' } });
    await expect(events.next()).rejects.toThrow('connection lost');
  });

  it('puts a large event together from small chunks', async () => {
    const large = 'x'.repeat(2_000_000);
    const chunks = Array.from({ length: 20_000 }, (_, index) =>
      bytes(large.slice(index * 100, index * 100 + 100)),
    );
    const [event] = await collect(streamOf([bytes('data: '), ...chunks, bytes('\n\n')]).stream);
    expect(event?.data.length).toBe(2_000_000);
  });
});
