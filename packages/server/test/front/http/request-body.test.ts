import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../src/base/limits.ts';
import { type Body, isLarge, readBody, readStream } from '../../../src/front/http/request-body.ts';

it.each<[string, Record<string, string>, boolean]>([
  ['POST', {}, false],
  ['POST', { 'content-length': '65536' }, false],
  ['POST', { 'content-length': '65537' }, true],
  ['POST', { 'transfer-encoding': 'chunked' }, true],
  ['GET', { 'content-length': '65537' }, false],
  ['DELETE', { 'transfer-encoding': 'chunked' }, false],
])('a %s with %j is large: %s', (method, headers, expected) => {
  expect(isLarge({ method, headers })).toBe(expected);
});

const none = async () => {};
const streamOf = (...chunks: (string | Uint8Array)[]) =>
  new Request('http://localhost', {
    method: 'POST',
    duplex: 'half',
    body: new ReadableStream({
      start(controller) {
        const encoder = new TextEncoder();
        for (const chunk of chunks)
          controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
        controller.close();
      },
    }),
  } as RequestInit);

describe('a web request', () => {
  const textOf = (body: Body | undefined) =>
    body && 'bytes' in body ? new TextDecoder().decode(body.bytes) : body;

  it('is read whole, up to the limit', async () => {
    expect(textOf(await readStream(streamOf('ab', 'c'), 3, none))).toBe('abc');
    expect(textOf(await readStream(new Request('http://localhost'), 3, none))).toBe('');
    expect(await readStream(streamOf('ab', 'cd'), 3, none)).toBeUndefined();
  });

  it('asks once, as soon as it is larger than 64 kB, and not before', async () => {
    const asked: string[] = [];
    const ask = async () => void asked.push('asked');
    const half = new Uint8Array(32_768);
    await readStream(streamOf(half, half), 1_000_000, ask);
    expect(asked).toEqual([]);
    await readStream(streamOf(half, half, 'x', half), 1_000_000, ask);
    expect(asked).toEqual(['asked']);
  });

  it('is read no further when it may not be sent', async () => {
    let canceled = false;
    const request = new Request('http://localhost', {
      method: 'POST',
      duplex: 'half',
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_537)),
        cancel: () => {
          canceled = true;
        },
      }),
    } as RequestInit);
    const no = new Error('no');
    await expect(readStream(request, 1_000_000, () => Promise.reject(no))).rejects.toBe(no);
    expect([request.body!.locked, canceled]).toEqual([false, false]);
  });

  it.each([
    ['', undefined],
    ['identity', undefined],
    [' Identity ', undefined],
    ['gzip', { encoding: 'gzip' }],
    ['identity, gzip', { encoding: 'identity, gzip' }],
    ['x'.repeat(50), { encoding: 'x'.repeat(40) }],
  ])('with the coding "%s" is compressed: %j', async (coding, expected) => {
    const headers = new Headers({ 'content-encoding': coding });
    const body = await readStream({ headers, body: streamOf('{}').body }, 9, none);
    expect(body).toEqual(expected ?? { bytes: expect.anything() });
  });
});

describe('the body of a request', () => {
  const limits = { ...defaultLimits, bodyBytes: 10 };
  const read = (
    body: Body | undefined | Error,
    { method = 'POST', headers = {}, logger = () => {} }: Record<string, unknown> = {},
  ) =>
    readBody(
      {
        ...{ method, headers, path: '/p', query: new URLSearchParams() },
        readBody: async () => {
          if (body instanceof Error) throw body;
          return body;
        },
      } as never,
      { options: { limits }, logger: logger as never, requestId: 'r', ask: none },
    );
  const bytes = (text: string) => ({ bytes: new TextEncoder().encode(text) });

  it('is read of a POST only', async () => {
    expect(await read(bytes('{}'), { method: 'GET' })).toBeUndefined();
    expect(await read(bytes('{}'))).toBeDefined();
  });

  it.each<[string, Body | undefined, Record<string, unknown>, string]>([
    ['is too large', undefined, {}, 'The body is larger than 10 bytes'],
    ['is declared too large', bytes('{}'), { headers: { 'content-length': '11' } }, 'larger than 10 bytes'],
    [
      'was too large for a parser',
      { longerThan: 5 },
      {},
      'The body is larger than 5 bytes, the limit of the parser in front of the agent',
    ],
    ['is as large as the limit', { longerThan: 10 }, {}, 'The body is larger than 10 bytes'],
    ['is compressed', { encoding: 'gzip' }, {}, 'The body is compressed (gzip): send it as it is'],
    ['is not UTF-8', { bytes: Uint8Array.of(0xff) }, {}, 'The body is not UTF-8'],
  ])('%s', async (_, body, more, message) => {
    await expect(read(body, more)).rejects.toThrow(message);
    expect(
      message.endsWith('bytes') ? await read(body, more).catch(({ reason }) => reason) : 'other',
    ).toMatch(/PAYLOAD_TOO_LARGE|other/);
  });

  it('that is declared no larger than the limit is read', async () => {
    expect(await read(bytes('{}'), { headers: { 'content-length': '10' } })).toBeDefined();
  });

  it('that breaks off is logged as no fault, and answered as one of the client', async () => {
    const lines: unknown[] = [];
    const logger = (...line: unknown[]) => lines.push(line);
    const error = new Error('gone');
    await expect(read(error, { logger })).rejects.toMatchObject({
      reason: 'PARSE_ERROR',
      message: 'The body ended too early',
    });
    const details = { requestId: 'r', method: 'POST', path: '/p', error };
    expect(lines).toEqual([['info', 'A client left before its request was complete', details]]);
  });
});
