import { MessageWriter } from './message-writer.ts';

/** The kinds of fields that the messages of etcd have: integers, texts and bytes, other messages. */
export type FieldType = 'number' | 'boolean' | 'bytes' | MessageType;

/** A field: its name, its number, its type, and whether there may be many. */
export type Field = readonly [name: string, number: number, type: FieldType, many?: 'many'];

/** A message of Protocol Buffers as a table. */
export type MessageType = readonly Field[];

type Values = Readonly<Record<string, unknown>>;

const varintWire = 0;
const bytesWire = 2;

/** Encodes the members of `value` that the table names. Members that are undefined are left out. */
export function encode(type: MessageType, value: object): Buffer {
  const writer = new MessageWriter();
  writeMessage(writer, type, value as Values);
  return writer.finish();
}

function writeMessage(writer: MessageWriter, type: MessageType, values: Values): void {
  for (let n = type.length - 1; n >= 0; n--) {
    const field = type[n]!;
    const value = values[field[0]];
    if (value === undefined) continue;
    if (field[3] === undefined) writeField(writer, field, value);
    else for (const one of (value as readonly unknown[]).toReversed()) writeField(writer, field, one);
  }
}

function writeField(writer: MessageWriter, [, number, type]: Field, value: unknown): void {
  if (type === 'number' || type === 'boolean') {
    writer.varint(Number(value));
    writer.varint(number * 8 + varintWire);
    return;
  }
  const before = writer.length;
  if (type === 'bytes') writer.content(value as string | Uint8Array);
  else writeMessage(writer, type, value as Values);
  writer.varint(writer.length - before);
  writer.varint(number * 8 + bytesWire);
}

/**
 * Decodes a message. Fields that the table does not name are skipped; those of `many` that are missing are empty lists.
 * Throws `RangeError` for bytes that are no message.
 */
export function decode(type: MessageType, bytes: Buffer): unknown {
  return readMessage(type, { bytes, at: 0 }, bytes.length);
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function readMessage(type: MessageType, reader: Reader, end: number): unknown {
  const message: Record<string, unknown> = {};
  for (const [name, , , many] of type) if (many) message[name] = [];
  while (reader.at < end) {
    const tag = readVarint(reader);
    const field = type.find(([, number]) => number === Math.floor(tag / 8));
    const value = readValue(reader, tag % 8, field?.[2]);
    if (!field) continue;
    if (field[3]) (message[field[0]] as unknown[]).push(value);
    else message[field[0]] = value;
  }
  if (reader.at > end) throw new RangeError('A message of etcd ends inside a field');
  return message;
}

function readValue(reader: Reader, wire: number, type: FieldType | undefined): unknown {
  if (wire === varintWire) {
    const value = readVarint(reader);
    return type === 'boolean' ? value !== 0 : value;
  }
  const length = wire === bytesWire ? readVarint(reader) : wire === 1 ? 8 : wire === 5 ? 4 : undefined;
  if (length === undefined || reader.at + length > reader.bytes.length)
    throw new RangeError('A message of etcd has a field that cannot be read');
  const end = reader.at + length;
  if (typeof type === 'object') return readMessage(type, reader, end);
  const content = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return content;
}

/** A number without sign. Only ids of the cluster are larger than a double keeps, and negative ones stand for nothing. */
function readVarint(reader: Reader): number {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined) throw new RangeError('A message of etcd ends inside a number');
    value += (byte % 128) * factor;
    if (byte < 128) return value;
  }
}
