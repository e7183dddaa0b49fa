import fc from 'fast-check';
import type { Field, MessageType } from '../src/wire/message-types.ts';

// Values of any message in canonical form: as `decodeMessage` returns them.

const text = fc.string({ maxLength: 8, unit: 'grapheme' });
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) =>
    JSON.parse(JSON.stringify(value), (name, member) => (name === '__proto__' ? undefined : member)),
  )
  .filter((value) => value !== undefined);
const key = text.filter((name) => name !== '__proto__');
const struct = fc.dictionary(key, json, { maxKeys: 3, noNullPrototype: true });
const time = fc
  .date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString());
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const bytes = fc.uint8Array({ maxLength: 9 }).map((some) => Buffer.from(some).toString('base64'));

/** Any canonical value of a message. Messages in messages get scarcer, so that values stay small. */
export function anyValueOf(type: MessageType, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const plain = type.fields.filter(({ oneof }) => oneof === undefined);
  const chosen = type.fields.filter(({ oneof }) => oneof !== undefined);
  const members = Object.fromEntries(plain.map((field) => [field.jsonName, memberOf(field, depth)]));
  const required = plain.filter(({ isRequired }) => isRequired).map(({ jsonName }) => jsonName);
  const optionalAt = depth < 4 ? plain : plain.filter(({ isRequired }) => isRequired);
  const rest = fc.record(
    Object.fromEntries(optionalAt.map(({ jsonName }) => [jsonName, members[jsonName]!])),
    { requiredKeys: required, noNullPrototype: true },
  );
  if (chosen.length === 0) return rest;
  const one = fc.oneof(
    ...chosen.map((field) => memberOf(field, depth).map((value) => ({ [field.jsonName]: value }))),
  );
  return fc.tuple(rest, one).map(([others, content]) => ({ ...others, ...content }));
}

function memberOf(field: Field, depth: number): fc.Arbitrary<unknown> {
  const single = singleOf(field, depth);
  const minimum = field.isRequired ? 0 : 1;
  if (field.label === 'list') return fc.array(single, { minLength: minimum, maxLength: 2 });
  if (field.label === 'map')
    return fc.dictionary(key, single, { minKeys: minimum, maxKeys: 2, noNullPrototype: true });
  if (field.hasPresence || field.isRequired) return single;
  return single.filter(
    (value) =>
      value !== '' &&
      value !== false &&
      value !== 0 &&
      value !== field.names?.[0] &&
      !(field.kind === 'int64' && value === '0'),
  );
}

function singleOf({ kind, message, names }: Field, depth: number): fc.Arbitrary<unknown> {
  switch (kind) {
    case 'string':
      return text;
    case 'bytes':
      return bytes;
    case 'bool':
      return fc.boolean();
    case 'int32':
      return int32;
    case 'int64':
      return int64;
    case 'enum':
      return fc.constantFrom(...names!);
    case 'Struct':
      return struct;
    case 'Value':
      return json;
    case 'Timestamp':
      return time;
    case 'message':
      return fc.constant(undefined).chain(() => anyValueOf(message!, depth + 1));
  }
}
