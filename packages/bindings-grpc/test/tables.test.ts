import { v03Grpc } from '@batonjs/bindings-v0-3';
import { A2AError, type ErrorDetail } from '@batonjs/protocol/errors';
import { a2aEnums, a2aMessages } from '@batonjs/protocol/proto-messages';
import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { targetOf } from '../src/client/grpc-client.ts';
import {
  decodeDetails,
  encodeStatus,
  fromServiceError,
  toParamsError,
  toRequestError,
  toResultError,
  toStatus,
} from '../src/errors/wire-error.ts';
import { a2aService, serviceOf } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { takePosition, withPosition } from '../src/wire/event-position.ts';
import { type Field, messageTypes } from '../src/wire/message-types.ts';
import { WireProblem } from '../src/wire/wire-problem.ts';
import { goldenRegistry } from './golden-registry.ts';

/** What a function returns, or what it says against its input. */
function triedTo(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error instanceof WireProblem ? `${error.field}: ${error.description}` : String(error);
  }
}

const types = messageTypes(
  {
    All: '1 text string, 2 data bytes, 3 flag bool, 4 small int32, 5 large int64, 6 mode Mode, 7 at Timestamp, 8 any Value, 9 some Struct, 10 inner All, 11 list string[], 12 map string{}, 13 inner_map All{}, 14 inner_list All[], 15 modes Mode[], 16 numbers int32[], 17 large_map int64{}, 18 maybe string?, 19 a string@one, 20 b int32@one',
    Required:
      '1 text string*, 2 flag bool*, 3 small int32*, 4 large int64*, 5 mode Mode*, 6 list string[]*, 7 map string{}*, 8 inner Required*, 9 some Struct*, 10 any Value*, 11 at Timestamp*, 12 data bytes*, 13 maybe int32?',
  },
  { Mode: ['NONE', 'ON', 'OFF'] },
);
const through = (type: keyof typeof types, value: unknown) =>
  triedTo(() => decodeMessage(types[type], encodeMessage(types[type], value)));

describe('a message', () => {
  // biome-ignore format: a table reads best with one row per line
  it.each<[given: object, read: unknown]>([
    [{ text: 'a' }, { text: 'a' }], [{ text: '' }, {}], [{ text: 7 }, 'text: must be a string'], [{ text: null }, {}], [{ text: undefined }, {}], [{ unknown: 1 }, {}],
    [{ flag: true }, { flag: true }], [{ flag: false }, {}], [{ flag: 'true' }, 'flag: must be true or false'],
    [{ small: 5 }, { small: 5 }], [{ small: 0 }, {}], [{ small: '-5' }, { small: -5 }], [{ small: 2 ** 31 }, 'small: must be an integer of 32 bits'], [{ small: -(2 ** 31) }, { small: -(2 ** 31) }], [{ small: '5x' }, 'small: must be an integer of 32 bits'], [{ small: 'x5' }, 'small: must be an integer of 32 bits'], [{ small: '' }, {}], [{ small: 1.5 }, 'small: must be an integer of 32 bits'], [{ small: true }, 'small: must be an integer of 32 bits'],
    [{ large: 5 }, { large: '5' }], [{ large: '0' }, {}], [{ large: '-9223372036854775808' }, { large: '-9223372036854775808' }], [{ large: '9223372036854775808' }, 'large: must be an integer of 64 bits'], [{ large: '99999999999999999999' }, 'large: must be an integer of 64 bits'], [{ large: 'x1' }, 'large: must be an integer of 64 bits'], [{ large: '1x' }, 'large: must be an integer of 64 bits'], [{ large: 1.5 }, 'large: must be an integer of 64 bits'], [{ large: true }, 'large: must be an integer of 64 bits'],
    [{ mode: 'ON' }, { mode: 'ON' }], [{ mode: 'NONE' }, {}], [{ mode: 7 }, { mode: '7' }], [{ mode: '7' }, { mode: '7' }], [{ mode: '-1' }, { mode: '-1' }], [{ mode: 'x7' }, 'mode: must be one of ON, OFF'], [{ mode: '7x' }, 'mode: must be one of ON, OFF'], [{ mode: true }, 'mode: must be one of ON, OFF'],
    [{ data: 'aGk=' }, { data: 'aGk=' }], [{ data: 'aGk' }, { data: 'aGk=' }], [{ data: '-_8=' }, { data: '+/8=' }], [{ data: '' }, {}], [{ data: 'YQ==' }, { data: 'YQ==' }], [{ data: 'YWJj' }, { data: 'YWJj' }], [{ data: 'a' }, 'data: must be base64'], [{ data: 'YWJjZ' }, 'data: must be base64'], [{ data: 'Y Q=' }, 'data: must be base64'], [{ data: 7 }, 'data: must be base64'],
    [{ at: '2026-01-02T03:04:05Z' }, { at: '2026-01-02T03:04:05.000Z' }], [{ at: '2026-01-02t03:04:05.25z' }, { at: '2026-01-02T03:04:05.250Z' }], [{ at: '2026-01-02 03:04:05' }, { at: '2026-01-02T03:04:05.000Z' }], [{ at: '2026-01-02T03:04:05.1234567+01:30' }, { at: '2026-01-02T01:34:05.123Z' }], [{ at: '1970-01-01T00:00:00Z' }, { at: '1970-01-01T00:00:00.000Z' }], [{ at: '1969-12-31T23:59:59.5Z' }, { at: '1969-12-31T23:59:59.500Z' }], [{ at: '0001-01-01T00:00:00Z' }, { at: '0001-01-01T00:00:00.000Z' }], [{ at: '9999-12-31T23:59:59.999Z' }, { at: '9999-12-31T23:59:59.999Z' }], [{ at: '2026-01-31T23:30:00-01:00' }, { at: '2026-02-01T00:30:00.000Z' }],
    ...['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', 'x2026-01-02T03:04:05Z', '2026-01-02T03:04:05Zx', '2026-01-02', '2026-01-02T03:04Z', '2026-01-02T03:04:05.Z', '2026-01-02T03:04:05.1234567890Z', '2026-01-02T03:04:05+1', '', 7].map((at): [object, string] => [{ at }, 'at: must be an RFC 3339 timestamp']),
    [{ any: null }, { any: null }], [{ any: 0 }, { any: 0 }], [{ any: false }, { any: false }], [{ any: '' }, { any: '' }], [{ any: [] }, { any: [] }], [{ any: {} }, { any: {} }], [{ any: [1, null, undefined, { a: undefined, b: 'x' }] }, { any: [1, null, null, { b: 'x' }] }], [{ any: () => 0 }, 'any: holds something that JSON cannot say'], [{ any: [Number.NaN] }, 'any: holds a number that is not finite'],
    [{ some: { a: 1, b: undefined, c: [true] } }, { some: { a: 1, c: [true] } }], [{ some: [] }, 'some: must be an object'], [{ some: 'x' }, 'some: must be an object'], [{ some: null }, {}],
    [{ inner: {} }, { inner: {} }], [{ inner: { inner: { text: 7 } } }, 'inner.inner.text: must be a string'], [{ inner: [] }, 'inner: must be an object'], [{ inner: 'x' }, 'inner: must be an object'],
    [{ list: ['', 'b'] }, { list: ['', 'b'] }], [{ list: [] }, {}], [{ list: ['a', 7] }, 'list[1]: must be a string'], [{ list: {} }, 'list: must be a list'],
    [{ map: { a: '', b: 'c', d: undefined } }, { map: { a: '', b: 'c' } }], [{ map: {} }, {}], [{ map: { a: 7 } }, 'map.a: must be a string'], [{ map: [] }, 'map: must be an object'], [{ map: 'x' }, 'map: must be an object'], [{ map: 7 }, 'map: must be an object'],
    [{ innerMap: { a: {}, b: { text: 'x' } } }, { innerMap: { a: {}, b: { text: 'x' } } }], [{ innerMap: { a: { list: [7] } } }, 'innerMap.a.list[0]: must be a string'],
    [{ innerList: [{ innerList: [{ flag: 7 }] }] }, 'innerList[0].innerList[0].flag: must be true or false'],
    [{ modes: ['NONE', 'OFF'] }, { modes: ['NONE', 'OFF'] }], [{ numbers: [0, 1] }, { numbers: [0, 1] }], [{ largeMap: { a: '0', b: 7 } }, { largeMap: { a: '0', b: '7' } }],
    [{ maybe: '' }, { maybe: '' }], [{ a: '' }, { a: '' }], [{ b: 0 }, { b: 0 }], [{ a: 'x', b: 7 }, { b: 7 }],
  ])('of %j is read as %j', (given, read) => {
    expect(through('All', given)).toEqual(read);
  });

  it.each([[[]], [null], ['x'], [7]])('is an object, and not %j', (value) => {
    expect(through('All', value)).toBe(': must be an object');
  });

  it('has no bytes of zeros that mean nothing, and the tag of a map whatever its values are', () => {
    expect(encodeMessage(types.All, { small: 0, large: 0, mode: 'NONE' })).toHaveLength(0);
    const [low, high] = encodeMessage(types.All, { largeMap: { a: 1 } });
    expect([low, high]).toEqual([...new BinaryWriter().tag(17, 2).finish()]);
  });

  it('has what is required though it was not written', () => {
    expect(through('Required', {})).toEqual({
      text: '',
      flag: false,
      small: 0,
      large: '0',
      mode: 'NONE',
      list: [],
      map: {},
      data: '',
    });
  });

  it('is written without what another one left of an error, and after a large one', () => {
    const good = encodeMessage(types.All, { text: 'a' });
    expect(triedTo(() => encodeMessage(types.All, { inner: { text: 'left', flag: 7 } }))).toContain(
      'inner.flag',
    );
    expect(encodeMessage(types.All, { text: 'a' })).toEqual(good);
    expect(encodeMessage(types.All, { text: 'x'.repeat(100_000) })).toHaveLength(100_004);
    expect(encodeMessage(types.All, { text: 'a' })).toEqual(good);
  });

  const written = (write: (writer: BinaryWriter) => BinaryWriter) => write(new BinaryWriter()).finish();
  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, bytes: Uint8Array, read: unknown]>([
    ['a text twice', written((to) => to.uint32(10).string('a').uint32(10).string('b')), { text: 'b' }],
    ['a text, and then none', written((to) => to.uint32(10).string('a').uint32(10).string('')), {}],
    ['a number, and then 0', written((to) => to.uint32(32).int32(5).uint32(32).int32(0)), {}],
    ['a flag that is false', written((to) => to.uint32(24).bool(false)), {}],
    ['the first of an enum', written((to) => to.uint32(48).int32(0)), {}],
    ['a large 0', written((to) => to.uint32(40).int64(0)), {}],
    ['an inner message twice', written((to) => to.uint32(82).fork().uint32(10).string('a').join().uint32(82).fork().uint32(32).int32(1).join()), { inner: { text: 'a', small: 1 } }],
    ['a Struct twice', Buffer.concat([encodeMessage(types.All, { some: { a: 1, b: 1 } }), encodeMessage(types.All, { some: { b: 2 } })]), { some: { a: 1, b: 2 } }],
    ['a map in pieces', Buffer.concat([encodeMessage(types.All, { map: { a: '1' } }), encodeMessage(types.All, { map: { b: '2', a: '3' } })]), { map: { a: '3', b: '2' } }],
    ['an entry without its parts', written((to) => to.uint32(98).fork().join()), { map: { '': '' } }],
    ['an entry of messages without its value', written((to) => to.uint32(106).fork().uint32(10).string('a').join()), { innerMap: { a: {} } }],
    ['an entry with more than its parts', written((to) => to.uint32(98).fork().uint32(24).int32(1).uint32(10).string('a').uint32(18).string('b').join()), { map: { a: 'b' } }],
    ['an entry of the prototype', written((to) => to.uint32(98).fork().uint32(10).string('__proto__').uint32(18).string('b').join()), { map: {} }],
    ['a value twice', written((to) => to.uint32(66).fork().uint32(26).string('a').uint32(32).bool(true).join()), { any: true }],
    ['a value with more than its kinds', written((to) => to.uint32(66).fork().uint32(800).int32(1).uint32(8).int32(0).join()), { any: null }],
    ['a list with more than its values', written((to) => to.uint32(66).fork().uint32(50).fork().uint32(16).int32(1).join().join()), { any: [] }],
    ['a Struct with more than its entries', written((to) => to.uint32(74).fork().uint32(16).int32(10).join()), { some: {} }],
    ['a time with more than its parts', written((to) => to.uint32(58).fork().uint32(24).int32(1).uint32(8).int64(1).uint32(16).int32(1_999_999).join()), { at: '1970-01-01T00:00:01.001Z' }],
    ['no UTF-8', Uint8Array.from([10, 1, 0xff]), 'text: cannot be read'],
    ['no UTF-8 in a key', Uint8Array.from([98, 3, 10, 1, 0xff]), 'map: cannot be read'],
    ['no UTF-8 in a value', Uint8Array.from([66, 3, 26, 1, 0xff]), 'any: cannot be read'],
    ['no UTF-8 in the name of a member', Uint8Array.from([74, 5, 10, 3, 10, 1, 0xff]), 'some: cannot be read'],
    ['a member without a value', Uint8Array.from([74, 5, 10, 3, 10, 1, 97]), 'some: holds a value without a kind'],
    ['an inner message that ends too late', Uint8Array.from([82, 5, 10, 1]), 'inner: ends too early'],
    ['a text that ends beyond its message', Uint8Array.from([82, 2, 10, 4, 97, 98, 99, 100]), 'inner: ends too early'],
    ['the time before the year 1', written((to) => to.uint32(58).fork().uint32(8).int64(-62_135_596_801).join()), 'at: must be a time of the years 1 to 9999'],
    ['the time after the year 9999', written((to) => to.uint32(58).fork().uint32(8).int64(253_402_300_800).join()), 'at: must be a time of the years 1 to 9999'],
    ['a field 0', Uint8Array.from([0]), ': holds a field without a number'],
    ['a group that does not end', Uint8Array.from([0xa3, 6]), ': is not of the type All'],
  ])('is read from bytes with %s', (_, bytes, read) => {
    expect(triedTo(() => decodeMessage(types.All, bytes))).toEqual(read);
  });

  it.each<[object, number]>([
    [{ text: 'a', small: 1 }, 2],
    [{ list: ['a', 'b', 'c'] }, 3],
    [{ map: { a: 'b' } }, 1],
    [{ inner: { text: 'a' } }, 2],
    [{ any: [1, [2]] }, 5],
  ])('%j has %i values', (value, count) => {
    const bytes = encodeMessage(types.All, value);
    expect(decodeMessage(types.All, bytes, count)).toEqual(value);
    expect(triedTo(() => decodeMessage(types.All, bytes, count - 1))).toContain(
      `holds more than ${count - 1} values`,
    );
  });

  it('has so many levels, and members, and no more', () => {
    const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
      levels === 0 ? 'end' : wrap(nested(levels - 1, wrap));
    const tooDeep = 'any: is nested deeper than 30 levels, which gRPC cannot carry';
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ in: inner })]) {
      expect(through('All', { any: nested(30, wrap) })).toEqual({ any: nested(30, wrap) });
      expect(through('All', { any: nested(31, wrap) })).toBe(tooDeep);
    }
    const wide = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, true]));
    expect(through('All', { some: wide(50_000) })).toHaveProperty('some.m49999');
    expect(through('All', { some: wide(50_001) })).toBe('some: holds an object of more than 50000 members');
  });
});

describe('a table of messages', () => {
  it.each([
    ['1 a', 'TypeError: No field of M is written like "1 a"'],
    ['x1 a string', 'TypeError: No field of M is written like "x1 a string"'],
    ['1 a string!', 'TypeError: No field of M is written like "1 a string!"'],
    ['1 a Other', 'TypeError: No table has the type Other of a'],
  ])('is refused with the row %s', (row, problem) => {
    expect(triedTo(() => messageTypes({ M: row }))).toBe(problem);
  });

  it('of a version names messages that it has', () => {
    const version = v03Grpc();
    const [first] = version.methods;
    expect(triedTo(() => serviceOf({ ...version, methods: [{ ...first!, request: 'Other' }] }))).toBe(
      `TypeError: The table of a2a.v1.A2AService has no message Other`,
    );
  });

  const older = v03Grpc();
  it.each([
    ['lf.a2a.v1', a2aMessages, a2aEnums, a2aService],
    ['a2a.v1', older.messages, older.enums, serviceOf(older)],
  ] as const)('says what the descriptor of %s says', (name, messages, enums, service) => {
    const registry = goldenRegistry(name);
    const described = [...registry].flatMap((each) => (each.kind === 'message' ? [each] : []));
    const theirs = described.filter((each) => each.typeName.startsWith(`${name}.`));
    expect(
      Object.values(messageTypes(messages, enums)).map((type) => [type.name, type.fields.map(rowOf)]),
    ).toEqual(theirs.map((message) => [message.name, message.fields.map(theirRowOf)]));
    for (const [each, names] of Object.entries(enums))
      expect(registry.getEnum(`${name}.${each}`)?.values.map((value) => value.name)).toEqual(names);
    expect(
      service.methods.map(({ path, isStream, request, response }) => [
        path,
        isStream,
        request.name,
        response.name,
      ]),
    ).toEqual(
      registry
        .getService(service.name)
        ?.methods.map(({ name, methodKind, input, output }) => [
          `/${service.name}/${name}`,
          methodKind === 'server_streaming',
          input.name,
          output.name,
        ]),
    );
  });
});

/** A field of a table. */
const rowOf = ({ number, name, jsonName, label, kind, typeName, oneof, hasPresence }: Field) => {
  const isScalar = !['message', 'Struct', 'Value', 'Timestamp'].includes(kind);
  return [number, name, jsonName, label, typeName, oneof, hasPresence && isScalar && oneof === undefined];
};

/** The same of a descriptor. */
const theirRowOf = (field: DescField) => {
  const label = field.fieldKind === 'list' || field.fieldKind === 'map' ? field.fieldKind : 'single';
  const { scalar, message, enum: named } = field;
  const type = scalar === undefined ? (message ?? named)?.name : ScalarType[scalar].toLowerCase();
  return [
    field.number,
    field.name,
    field.jsonName,
    label,
    type,
    field.oneof?.name,
    field.proto.proto3Optional,
  ];
};

describe('the position of an event', () => {
  const key = 'https://batonjs.dev/metadata/position';

  it('stands in its metadata, beside what is there', () => {
    const event = { statusUpdate: { taskId: 't', metadata: { a: 1 } } };
    const positioned = withPosition(event, 'p');
    expect(positioned).toEqual({ statusUpdate: { taskId: 't', metadata: { a: 1, [key]: 'p' } } });
    expect(takePosition(positioned as never)).toEqual({ id: 'p', event });
    expect(withPosition({ task: {} }, 'p')).toEqual({ task: { metadata: { [key]: 'p' } } });
    expect(takePosition({ task: { metadata: { [key]: 'p' } } })).toEqual({ id: 'p', event: { task: {} } });
  });

  it.each([{}, { task: {} }, { task: { metadata: { [key]: 7 } } }])('may be missing: %j', (event) => {
    const before = structuredClone(event);
    expect(takePosition(event)).toEqual({ event: before });
  });
});

describe('an address', () => {
  // biome-ignore format: a table reads best with one row per line
  it.each<[string, boolean, ReturnType<typeof targetOf>]>([
    ['GRPC://localhost:1', false, { host: 'localhost:1', isSecure: false }], ['GRPCS://a:1', false, { host: 'a:1', isSecure: true }],
    ['a', false, { host: 'a', isSecure: true }], ['a', true, { host: 'a', isSecure: false }], ['[::1]', false, { host: '[::1]', isSecure: false }], ['[fe80::1]:1', false, { host: '[fe80::1]:1', isSecure: true }],
    ['xgrpc://a:1', false, undefined], ['a:1/x', false, undefined], ['a:123456', false, undefined], ['a b:1', false, undefined], ['https://', false, undefined], ['https://a//', false, undefined], ['https://a:1/', false, { host: 'a:1', isSecure: true }], ['a?b', false, undefined], ['a#b', false, undefined], ['[x]:1', false, undefined],
  ])('%s leads a channel, with plaintext %s', (address, plaintext, target) => {
    expect(targetOf(address, plaintext)).toEqual(target);
  });
});

const google = 'type.googleapis.com/google.rpc.';
const info: ErrorDetail = { '@type': `${google}ErrorInfo`, reason: 'R', domain: 'd', metadata: { a: 'b' } };

describe('details of an error', () => {
  const violations = (count: number, length: number) => ({
    '@type': `${google}BadRequest`,
    fieldViolations: Array.from({ length: count }, () => ({ field: 'f', description: 'x'.repeat(length) })),
  });
  const bytesOf = (...details: ErrorDetail[]) => encodeStatus(5, 'message', details);

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, given: ErrorDetail, read: object]>([
    ['of the reason', info, info],
    ['of violations', violations(2, 3), violations(2, 3)],
    ['of a time', { '@type': `${google}RetryInfo`, retryDelay: '3s' }, { '@type': `${google}RetryInfo`, retryDelay: '3s' }],
    ['of a part of a second', { '@type': `${google}RetryInfo`, retryDelay: '2.25s' }, { '@type': `${google}RetryInfo`, retryDelay: '3s' }],
    ['of another type', { '@type': 'x/y.Z', a: 1 }, { '@type': 'x/y.Z', a: 1 }],
    ['of another type, long', { '@type': 'x/y.Z', a: 'x'.repeat(200) }, { '@type': 'x/y.Z', a: 'x'.repeat(200) }],
    ['of another type, of 127 bytes', { '@type': 'x', a: 'x'.repeat(100) }, { '@type': 'x', a: 'x'.repeat(100) }],
    ['of another type, of many bytes', { '@type': 'x', a: 'x'.repeat(4_000) }, { '@type': 'x', a: 'x'.repeat(4_000) }],
  ])('come through: %s', (_, given, read) => {
    expect(decodeDetails(bytesOf(given))).toEqual([read]);
  });

  it.each(Array.from({ length: 12 }, (_, n) => 80 + n))(
    'come through whatever the length of their text: %i',
    (length) => {
      const detail = { '@type': 'x', a: 'x'.repeat(length) };
      expect(decodeDetails(bytesOf(detail))).toEqual([detail]);
    },
  );

  it('have room together, and lose violations before they are left out', () => {
    const big = { '@type': 'x', a: 'x'.repeat(3_000) };
    expect(decodeDetails(bytesOf(big, { ...big, b: 1 }, info))).toEqual([big, info]);
    expect(decodeDetails(bytesOf(big, violations(4, 700)))).toEqual([big, violations(2, 700)]);
    expect(decodeDetails(bytesOf(big, violations(2, 1_500)))).toEqual([big, violations(1, 1_500)]);
    expect(decodeDetails(bytesOf(big, violations(1, 3_000)))).toEqual([big]);
    expect(decodeDetails(encodeStatus(5, 'x'.repeat(4_999), [info]))).toEqual([]);
    // 5,000 bytes, and no byte more.
    const exact = (length: number) => decodeDetails(encodeStatus(5, '', [violations(1, length)]));
    expect(exact(4_991)).toEqual([violations(1, 4_991)]);
    expect(exact(4_992)).toEqual([]);
  });

  const status_ = messageTypes({
    Any: '1 type_url string, 2 value bytes',
    Status: '3 details Any[]',
    RetryInfo: '1 retry_delay Duration',
    Duration: '1 seconds int32, 2 nanos int32',
  });
  const packed = (typeUrl: string, value: Uint8Array) =>
    encodeMessage(status_.Status, { details: [{ typeUrl, value: Buffer.from(value).toString('base64') }] });

  it.each<[string, Uint8Array, unknown[]]>([
    ['no message', Uint8Array.from([255]), []],
    ['nothing', new Uint8Array(), []],
    ['a type that is not known', packed('x/y.Z', new Uint8Array()), []],
    ['no type', packed('', new Uint8Array()), []],
    ['a value that is no message', packed(`${google}ErrorInfo`, Uint8Array.from([255])), []],
    [
      'the address of another host',
      packed('example.com/google.rpc.ErrorInfo', new Uint8Array()),
      [{ '@type': `${google}ErrorInfo` }],
    ],
    ['an object without a type', packed('type.googleapis.com/google.protobuf.Struct', new Uint8Array()), []],
    [
      'a part of a second',
      packed(
        `${google}RetryInfo`,
        encodeMessage(status_.RetryInfo, { retryDelay: { seconds: 1, nanos: 500_000_000 } }),
      ),
      [{ '@type': `${google}RetryInfo`, retryDelay: '1.5s' }],
    ],
    [
      'no time',
      packed(`${google}RetryInfo`, new Uint8Array()),
      [{ '@type': `${google}RetryInfo`, retryDelay: '0s' }],
    ],
  ])('are read from %s', (_, bytes, details) => {
    expect(decodeDetails(bytes)).toEqual(details);
  });
});

describe('the status of an error', () => {
  it('has its code, text and headers', () => {
    const error = new A2AError('UNAUTHENTICATED', 'x'.repeat(2_000), { retryAfter: 3, challenge: 'Bearer' });
    const { code, details, metadata } = toStatus(error, ['e', 'f']);
    expect([code, details]).toEqual([status.UNAUTHENTICATED, 'x'.repeat(1_000)]);
    expect(metadata!.getMap()).toMatchObject({
      'retry-after': '3',
      'www-authenticate': 'Bearer',
      'a2a-extensions': 'e, f',
    });
    const plain = toStatus(new Error('secret'));
    expect([plain.code, plain.details]).toEqual([status.INTERNAL, 'Internal error']);
    expect(Object.keys(plain.metadata!.getMap())).toEqual(['grpc-status-details-bin']);
  });

  it('says a problem of the wire as what it was', () => {
    const problem = () => WireProblem.at(new WireProblem('must be this'), 'a');
    expect(toRequestError(problem())).toMatchObject({
      reason: 'INVALID_REQUEST',
      message: expect.stringContaining('a must be this'),
    });
    expect(toParamsError(problem())).toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining('a must be this'),
    });
    const limit = WireProblem.at(new WireProblem('is too deep', true), 'a');
    expect(toResultError(limit)).toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      message: 'a is too deep: use another binding',
    });
    const own = problem();
    const other = new Error('x');
    expect([toResultError(own), toResultError(other), toRequestError(other), toParamsError(other)]).toEqual([
      own,
      other,
      other,
      other,
    ]);
    expect(toResultError(own)).toBe(own);
  });

  it('names the member that is wrong', () => {
    const steps = [1, 'a', 0, 'b'].reduce(WireProblem.at, new WireProblem('x'));
    expect(steps.field).toBe('b[0].a[1]');
    expect(WireProblem.at(new Error('secret'), 'a')).toMatchObject({
      field: 'a',
      description: 'cannot be read',
      isLimit: false,
      name: 'WireProblem',
    });
  });

  const failed = (
    code: status,
    details = 'text',
    headers: Record<string, string | Buffer> = {},
  ): ServiceError => {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    return Object.assign(new Error(`${code} ${details}`), { code, details, metadata });
  };

  // biome-ignore format: a table reads best with one row per line
  it.each<[error: ServiceError, read: object]>([
    [failed(status.NOT_FOUND), { reason: 'TASK_NOT_FOUND', message: 'text', retryAfter: undefined, challenge: undefined }],
    [failed(status.INVALID_ARGUMENT), { reason: 'INVALID_PARAMS' }], [failed(status.OUT_OF_RANGE), { reason: 'INVALID_PARAMS' }], [failed(status.FAILED_PRECONDITION), { reason: 'UNSUPPORTED_OPERATION' }], [failed(status.UNIMPLEMENTED), { reason: 'METHOD_NOT_FOUND' }], [failed(status.UNAUTHENTICATED), { reason: 'UNAUTHENTICATED' }], [failed(status.PERMISSION_DENIED), { reason: 'PERMISSION_DENIED' }], [failed(status.RESOURCE_EXHAUSTED), { reason: 'RESOURCE_EXHAUSTED' }], [failed(status.INTERNAL), { reason: 'INTERNAL_ERROR' }], [failed(status.UNKNOWN), { reason: 'INTERNAL_ERROR' }], [failed(status.DATA_LOSS), { reason: 'INTERNAL_ERROR' }], [failed(status.ABORTED), { reason: 'UNAVAILABLE' }], [failed(status.ALREADY_EXISTS), { reason: 'INTERNAL_ERROR' }],
    [failed(status.UNAUTHENTICATED, 'x', { 'retry-after': '7', 'www-authenticate': 'Bearer' }), { retryAfter: 7, challenge: 'Bearer' }],
    [failed(status.NOT_FOUND, 'x', { 'grpc-status-details-bin': encodeStatus(5, 'x', [{ '@type': `${google}ErrorInfo`, reason: 'TASK_NOT_CANCELABLE', domain: 'a2a-protocol.org', metadata: { taskId: 't' } }]) }), { reason: 'TASK_NOT_CANCELABLE', metadata: { taskId: 't' } }],
    [failed(status.UNAVAILABLE, 'x', { 'grpc-status-details-bin': encodeStatus(14, 'x', [{ '@type': `${google}ErrorInfo`, reason: 'UNAVAILABLE', domain: 'batonjs.dev' }]) }), { reason: 'UNAVAILABLE', message: 'x' }],
    // A reason that is not known says less than the status.
    [failed(status.NOT_FOUND, 'x', { 'grpc-status-details-bin': encodeStatus(5, 'x', [{ '@type': `${google}ErrorInfo`, reason: 'OTHER', domain: 'other.example' }]) }), { reason: 'TASK_NOT_FOUND' }],
    [failed(status.NOT_FOUND, 'x', { 'grpc-status-details-bin': encodeStatus(5, 'x', [{ '@type': `${google}BadRequest`, fieldViolations: [{ field: 'f', description: 'd' }] }]) }), { reason: 'TASK_NOT_FOUND', details: [{ fieldViolations: [{ field: 'f', description: 'd' }] }] }],
  ])('%s is read as %j', (error, read) => {
    expect(fromServiceError(error, 1_000)).toMatchObject(read);
    expect(fromServiceError(error, 1_000)).toBeInstanceOf(A2AError);
  });

  it('of a connection that failed is itself, with the code of the system', () => {
    for (const code of [status.UNAVAILABLE, status.CANCELLED, status.DEADLINE_EXCEEDED]) {
      const error = failed(code, 'No connection');
      expect(fromServiceError(error, 1_000)).toBe(error);
    }
    for (const [text, system] of [
      ['connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'],
      ['getaddrinfo EAI_AGAIN host', 'EAI_AGAIN'],
    ]) {
      const error = failed(status.UNAVAILABLE, text);
      const read = fromServiceError(error, 1_000) as Error & { code: string };
      expect([read.message, read.code, read.cause]).toEqual([text, system, error]);
    }
    const none = failed(status.UNAVAILABLE, 'EX XECONN ECONNx');
    expect(fromServiceError(none, 1_000)).toBe(none);
  });

  it('of a message that is too long is of the answer, or else of the request', () => {
    const text = 'Received message larger than max (2000 vs 1000)';
    expect(fromServiceError(failed(status.RESOURCE_EXHAUSTED, text), 1_000)).toEqual(new RangeError(text));
    expect(
      fromServiceError(failed(status.RESOURCE_EXHAUSTED, text.replace('vs', 'vs.')), 1_000),
    ).toBeInstanceOf(RangeError);
    expect(fromServiceError(failed(status.RESOURCE_EXHAUSTED, text), 2_000)).toMatchObject({
      reason: 'PAYLOAD_TOO_LARGE',
      message: text,
    });
    expect(fromServiceError(failed(status.RESOURCE_EXHAUSTED, `It said: ${text}`), 1_000)).toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
    });
    expect(
      fromServiceError({ ...failed(status.NOT_FOUND), metadata: undefined } as never, 1_000),
    ).toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });
});
