import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import { a2aTypes } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import type { MessageType } from '../src/wire/message-types.ts';

const { Artifact, GetTaskRequest, ListTasksRequest, ListTasksResponse, Message, Part, TaskStatus } = a2aTypes;

const nested = (levels: number): unknown => (levels === 0 ? 'end' : { in: nested(levels - 1) });

const lists = (levels: number): unknown => (levels === 0 ? 'end' : [lists(levels - 1)]);

const throughWire = (type: MessageType, value: unknown) => decodeMessage(type, encodeMessage(type, value));

function problemOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    const { field, description } = error as { field: string; description: string };
    return `${field}: ${description}`;
  }
  return 'none';
}

describe('a value', () => {
  it.each<[string, MessageType, unknown, unknown]>([
    ['null in data (R-GRPC-84)', Part, { data: null }, { data: null }],
    ['an empty text (R-GRPC-89)', Part, { text: '' }, { text: '' }],
    ['empty metadata (R-GRPC-89)', Part, { url: 'a:b', metadata: {} }, { url: 'a:b', metadata: {} }],
    [
      'historyLength 0 (R-GRPC-89)',
      GetTaskRequest,
      { id: 't', historyLength: 0 },
      { id: 't', historyLength: 0 },
    ],
    [
      'a number as text (R-GRPC-88)',
      GetTaskRequest,
      { id: 't', historyLength: '50' },
      { id: 't', historyLength: 50 },
    ],
    ['an integer beyond 2^53 (R-GRPC-85)', Part, { data: 2 ** 53 + 2 }, { data: 2 ** 53 + 2 }],
    ['base64 for URLs (R-GRPC-86)', Part, { raw: '-_8' }, { raw: '+/8=' }],
    [
      'an offset (R-GRPC-87)',
      TaskStatus,
      { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T02:00:00.5+02:00' },
      { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00.500Z' },
    ],
    [
      'a time before 1970',
      ListTasksRequest,
      { statusTimestampAfter: '1969-12-31T23:59:59.999Z' },
      { statusTimestampAfter: '1969-12-31T23:59:59.999Z' },
    ],
    ['a lone surrogate (R-GRPC-90)', Part, { text: 'a\ud800b' }, { text: 'a\ufffdb' }],
    ['an unknown enum number (R-GRPC-82)', TaskStatus, { state: 99 }, { state: '99' }],
    [
      'an empty page (R-GRPC-83)',
      ListTasksResponse,
      {},
      { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 },
    ],
    ['30 levels of data (R-GRPC-91)', Part, { data: nested(30) }, { data: nested(30) }],
    [
      'a member named __proto__',
      Part,
      JSON.parse('{"data":{"__proto__":{"a":1},"b":2}}'),
      { data: { b: 2 } },
    ],
  ])('comes through the wire: %s', (_, type, given, expected) => {
    expect(throughWire(type, given)).toEqual(expected);
  });

  it.each<[string, MessageType, unknown, string]>([
    [
      '31 levels of data (R-GRPC-91)',
      Artifact,
      { parts: [{ text: '' }, { data: nested(31) }] },
      'parts[1].data: is nested deeper than 30 levels, which gRPC cannot carry',
    ],
    [
      '31 lists in each other (R-GRPC-91)',
      Artifact,
      { parts: [{ data: lists(31) }] },
      'parts[0].data: is nested deeper than 30 levels, which gRPC cannot carry',
    ],
    ['infinity', Part, { data: [Number.POSITIVE_INFINITY] }, 'data: holds a number that is not finite'],
    [
      'text for a number (R-GRPC-88)',
      GetTaskRequest,
      { historyLength: 5.5 },
      'historyLength: must be an integer of 32 bits',
    ],
    ['a number for text', GetTaskRequest, { id: 5 }, 'id: must be a string'],
    ['no base64 (R-GRPC-86)', Part, { raw: 'a b' }, 'raw: must be base64'],
    [
      'a role of its own (R-GRPC-81)',
      Message,
      { role: 'user' },
      'role: must be one of ROLE_USER, ROLE_AGENT',
    ],
    [
      'no timestamp',
      ListTasksRequest,
      { statusTimestampAfter: 'today' },
      'statusTimestampAfter: must be an RFC 3339 timestamp',
    ],
    [
      'a day that there is not',
      ListTasksRequest,
      { statusTimestampAfter: '2026-02-30T00:00:00Z' },
      'statusTimestampAfter: must be an RFC 3339 timestamp',
    ],
    ['a list as metadata', Message, { metadata: [] }, 'metadata: must be an object'],
    ['a text as parts', Message, { parts: 'hi' }, 'parts: must be a list'],
  ])('is refused with its path: %s', (_, type, given, problem) => {
    expect(problemOf(() => encodeMessage(type, given))).toBe(problem);
  });
});

const field = (number: number, bytes: Uint8Array) => new BinaryWriter().tag(number, 2).bytes(bytes).finish();
const bytes = (...numbers: number[]) => Uint8Array.from(numbers);

describe('bytes', () => {
  it.each<[string, MessageType, Uint8Array, string]>([
    ['that end too early (R-GRPC-79)', GetTaskRequest, bytes(18, 5, 65), 'id: cannot be read'],
    [
      'of a message that is longer than what holds it',
      Message,
      bytes(42, 2, 10, 9),
      'parts[0].text: cannot be read',
    ],
    ['that are no UTF-8', GetTaskRequest, bytes(18, 1, 0xff), 'id: cannot be read'],
    ['with a field 0', GetTaskRequest, bytes(0, 0), ': holds a field without a number'],
    ['that end a group that never began', GetTaskRequest, bytes(12), ': is not of the type GetTaskRequest'],
    ['of a value without a kind (R-GRPC-84)', Part, field(4, bytes()), 'data: holds a value without a kind'],
    [
      'of a number that is not finite',
      Part,
      field(4, bytes(17, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f)),
      'data: holds a number that is not finite',
    ],
    [
      'of a time after the year 9999',
      TaskStatus,
      field(3, bytes(8, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)),
      'timestamp: must be a time of the years 1 to 9999',
    ],
  ])('%s are refused with the path', (_, type, given, problem) => {
    expect(problemOf(() => decodeMessage(type, given))).toBe(problem);
  });

  it('of a oneof that comes twice mean the last member', () => {
    const both = Buffer.concat([field(1, Buffer.from('hi')), field(3, Buffer.from('a:b'))]);
    expect(decodeMessage(Part, both)).toEqual({ url: 'a:b' });
  });

  it('of a message that comes twice are merged', () => {
    const first = encodeMessage(a2aTypes.SendMessageRequest, {
      message: { messageId: 'm', parts: [{ text: 'a' }] },
    });
    const second = encodeMessage(a2aTypes.SendMessageRequest, {
      message: { taskId: 't', parts: [{ text: 'b' }] },
    });
    expect(decodeMessage(a2aTypes.SendMessageRequest, Buffer.concat([first, second]))).toEqual({
      message: {
        messageId: 'm',
        role: 'ROLE_UNSPECIFIED',
        taskId: 't',
        parts: [{ text: 'a' }, { text: 'b' }],
      },
    });
  });

  it('of fields that the table does not have are skipped', () => {
    const unknown = new BinaryWriter().tag(100, 0).uint32(7).tag(101, 2).string('x').finish();
    const known = encodeMessage(GetTaskRequest, { id: 't' });
    expect(decodeMessage(GetTaskRequest, Buffer.concat([unknown, known]))).toEqual({ id: 't' });
  });
});
