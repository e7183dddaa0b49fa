import { CountingReader } from './counting-reader.ts';
import { endOf, entryKey, entryValue, readStruct, readTimestamp, readValue, skip } from './json-value.ts';
import type { Field, MessageType } from './message-types.ts';
import { WireProblem } from './wire-problem.ts';

type Members = Record<string, unknown>;

/**
 * The JSON form of the bytes of a message. Members that the specification marks REQUIRED are always there, except
 * messages; others only if they are not their default value. An enum's number without a name becomes its text. Unknown
 * fields are dropped. Throws a `WireProblem` with the path, also for more than `maxValues` values.
 */
export function decodeMessage(
  type: MessageType,
  bytes: Uint8Array,
  maxValues = Number.POSITIVE_INFINITY,
): Members {
  const reader = new CountingReader(bytes, maxValues);
  try {
    return readMessage(reader, type, reader.len, {});
  } catch (error) {
    throw error instanceof WireProblem ? error : new WireProblem(`is not of the type ${type.name}`);
  }
}

function readMessage(reader: CountingReader, type: MessageType, end: number, value: Members): Members {
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = type.byTag.get(tag);
    if (!field) {
      skip(reader, tag);
      continue;
    }
    try {
      readField(reader, type, field, end, value);
    } catch (error) {
      throw WireProblem.at(error, field.jsonName);
    }
  }
  if (reader.pos > end) throw new WireProblem('ends too early');
  for (const field of type.required) value[field.jsonName] ??= defaultOf(field);
  return value;
}

function readField(
  reader: CountingReader,
  type: MessageType,
  field: Field,
  limit: number,
  value: Members,
): void {
  const { jsonName, label } = field;
  if (label === 'list') {
    value[jsonName] ??= [];
    const list = value[jsonName] as unknown[];
    try {
      list.push(readSingle(reader, field, limit, undefined));
    } catch (error) {
      throw WireProblem.at(error, list.length);
    }
    return;
  }
  if (label === 'map') {
    value[jsonName] ??= {};
    readEntry(reader, field, endOf(reader, limit), value[jsonName] as Members);
    return;
  }
  // A field that comes twice: messages are merged, of anything else the last one counts.
  const read = readSingle(reader, field, limit, value[jsonName]);
  if (field.oneof)
    for (const other of type.fields) if (other.oneof === field.oneof) delete value[other.jsonName];
  if (field.hasPresence || !isDefault(field, read)) value[jsonName] = read;
  else delete value[jsonName];
}

function readSingle(reader: CountingReader, field: Field, limit: number, before: unknown): unknown {
  reader.count();
  switch (field.kind) {
    case 'string':
      return reader.string(true);
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return String(reader.int64());
    case 'enum': {
      const number = reader.int32();
      return field.names![number] ?? String(number);
    }
    case 'bytes': {
      const bytes = reader.bytes();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    }
  }
  const end = endOf(reader, limit);
  if (field.kind === 'message') return readMessage(reader, field.message!, end, (before ?? {}) as Members);
  if (field.kind === 'Struct') return readStruct(reader, end, (before ?? {}) as Members);
  if (field.kind === 'Value') return readValue(reader, end);
  return readTimestamp(reader, end);
}

function readEntry(reader: CountingReader, field: Field, end: number, map: Members): void {
  let key = '';
  let value: unknown = field.kind === 'string' ? '' : undefined;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === entryKey) key = reader.string(true);
    else if (tag === entryValue) value = readSingle(reader, field, end, value === '' ? undefined : value);
    else skip(reader, tag);
  }
  if (key !== '__proto__') map[key] = value === undefined ? {} : value;
}

const isDefault = ({ kind, names }: Field, value: unknown): boolean =>
  value === '' ||
  value === false ||
  value === 0 ||
  (kind === 'enum' && value === names![0]) ||
  (kind === 'int64' && value === '0');

function defaultOf({ kind, label, names }: Field): unknown {
  if (label === 'list') return [];
  if (label === 'map') return {};
  if (kind === 'enum') return names![0];
  if (kind === 'int64') return '0';
  return kind === 'int32' ? 0 : kind === 'bool' ? false : '';
}
