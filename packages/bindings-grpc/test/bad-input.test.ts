import type { OperationName } from '@batonjs/protocol/operations';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leavesNoTrace, prepare } from '../../../test/kit/http/known-tasks.ts';
import { type Served, secret, serveHttp } from '../../../test/kit/http/serve-http.ts';
import { wrongCalls } from '../../../test/kit/http/wrong-calls.ts';
import { type Known, wrongSends } from '../../../test/kit/http/wrong-sends.ts';
import { type GrpcListener, listenGrpc } from '../src/index.ts';
import { a2aMethods } from '../src/wire/a2a-service.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { rawClient, readAll, refused } from './raw-client.ts';

/** Not wrong over gRPC: of a oneof the last member counts, half a surrogate pair becomes U+FFFD, and 0 is not set. */
const cannotBeSaid = new Set([
  'pageSize 0 [R-LIST-06]',
  'a part with two contents',
  'a part with two contents, one null',
  'a part with all contents',
  'a messageId with half a surrogate pair',
  'half a surrogate pair',
]);

let served: Served;
let known: Known;
let listener: GrpcListener;
beforeAll(async () => {
  served = await serveHttp({ limits: { bodyBytes: 2 ** 22 } });
  known = await prepare(served);
  listener = await listenGrpc(served.server, { port: 0 });
});
afterAll(async () => {
  await listener.close({ graceMs: 0 });
  await served.close();
});

/** Calls an operation with these bytes, which must be refused without a trace. */
async function refusal(operation: OperationName, bytes: Buffer) {
  const { call, stream } = rawClient(listener.address!);
  const isStream = a2aMethods.find((method) => method.operation === operation)!.isStream;
  let error!: Awaited<ReturnType<typeof refused>>;
  await leavesNoTrace(served, async () => {
    error = await refused(
      isStream
        ? readAll(stream(operation, bytes)).then(({ error: ended }) => (ended ? Promise.reject(ended) : []))
        : call(operation, bytes),
    );
  });
  expect(error.message).toMatch(/^\S.{5,}/);
  expect(JSON.stringify(error)).not.toContain(secret);
  expect(JSON.stringify(error)).not.toMatch(/\bat .+:\d+:\d+|node_modules|TypeError|RangeError|call stack/);
  return error;
}

/** Checks that a call with these params is refused, by the server or before it is sent. */
async function refuses(
  operation: OperationName,
  params: object | ((known: Known) => object),
  reason: string,
  fields: readonly string[] = [],
) {
  const given = typeof params === 'function' ? params(known) : params;
  const { request } = a2aMethods.find((method) => method.operation === operation)!;
  let bytes: Buffer;
  try {
    bytes = Buffer.from(encodeMessage(request, given));
  } catch (problem) {
    // No client can send it: the first field that does not fit is named.
    expect(['INVALID_PARAMS', 'PUSH_NOTIFICATION_NOT_SUPPORTED']).toContain(reason);
    if (reason === 'INVALID_PARAMS') expect(fields).toContain((problem as { field: string }).field);
    return;
  }
  const { details } = await refusal(operation, bytes);
  expect(details[0]).toMatchObject({ reason, domain: 'a2a-protocol.org' });
  const { fieldViolations = [] } = (details[1] ?? {}) as { fieldViolations?: { field: string }[] };
  expect([...new Set(fieldViolations.map(({ field }) => field))].sort()).toEqual([...fields].sort());
}

describe('over gRPC, what JSON-RPC refuses is refused [R-GRPC-74]', () => {
  const sends = wrongSends.filter(({ what }) => !cannotBeSaid.has(what));
  it.each(sends)('SendMessage with $what: $reason [R-SEND-12]', ({ params, reason, fields }) =>
    refuses('SendMessage', params, reason, fields),
  );

  it.each(sends.filter((_, index) => index % 9 === 0))(
    'SendStreamingMessage with $what: $reason, before it streams',
    ({ params, reason, fields }) => refuses('SendStreamingMessage', params, reason, fields),
  );

  const calls = wrongCalls.filter(({ what }) => !cannotBeSaid.has(what));
  it.each(calls)('$operation with $what: $reason', ({ operation, params, reason, fields }) =>
    refuses(operation, params, reason, fields),
  );
});

const bytes = (...numbers: number[]) => Buffer.from(numbers);
const repeated = (times: number, ...some: number[]) => Buffer.alloc(times, Buffer.from(some));
/** A field that holds bytes. */
const field = (number: number, content: Buffer) => {
  const length = [];
  for (let rest = content.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([bytes((number << 3) | 2, ...length), content]);
};
/** Lists in lists, as `google.protobuf.Value`. */
const nestedValue = (levels: number) => {
  let value = bytes(8, 0);
  for (let level = 0; level < levels; level += 1) value = field(6, field(1, value));
  return value;
};
/** Objects in objects, with a member `a`. */
const nestedStruct = (levels: number) => {
  let value = bytes(8, 0);
  for (let level = 0; level < levels; level += 1)
    value = field(5, field(1, Buffer.concat([field(1, Buffer.from('a')), field(2, value)])));
  return value;
};
const inData = (value: Buffer) => field(2, field(5, field(4, value)));

describe('bytes that are no message are refused (R-GRPC-79)', () => {
  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, content: Buffer]>([
    ['a length beyond the end', bytes(10, 200)],
    ['a number that does not end', repeated(12, 0xff)],
    ['a field 0', bytes(0, 0)],
    ['a wire type that there is not', bytes(15, 1)],
    ['the end of a group that never began', bytes(12)],
    ['a group that does not end', bytes(0xfb, 7)],
    ['100,000 groups in each other', repeated(200_000, 0xfb, 7)],
    ['text', Buffer.from('{"id":"x"}')],
  ])('of %s, by every operation', async (_, content) => {
    for (const { operation } of a2aMethods) {
      const { code, details } = await refusal(operation, content);
      expect(code).toBe(status.INVALID_ARGUMENT);
      expect(details).toMatchObject([
        { reason: 'INVALID_REQUEST' },
        { fieldViolations: [{ description: expect.stringMatching(/\S{2,}/) }] },
      ]);
    }
  });

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, content: Buffer, violation: string]>([
    ['a message that ends too early', bytes(18, 5, 10), 'message'],
    ['text that is no UTF-8', field(2, field(1, bytes(0xc0, 0x80))), 'message.messageId'],
    ['a value without a kind', inData(bytes()), 'message.parts[0].data'],
    ['a number that is not finite', inData(bytes(17, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f)), 'message.parts[0].data'],
    ['31 levels of data (R-GRPC-91)', inData(nestedValue(31)), 'message.parts[0].data'],
    ['31 objects in each other (R-GRPC-91)', inData(nestedStruct(31)), 'message.parts[0].data'],
    ['10,000 levels of data (R-GRPC-91)', inData(nestedValue(10_000)), 'message.parts[0].data'],
  ])('of a message with %s, naming the field', async (_, content, violation) => {
    for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
      const { code, details } = await refusal(operation, content);
      expect(code).toBe(status.INVALID_ARGUMENT);
      expect(details).toMatchObject([
        { reason: 'INVALID_REQUEST' },
        { fieldViolations: [{ field: violation, description: expect.stringMatching(/\S{2,}/) }] },
      ]);
    }
  });
});
