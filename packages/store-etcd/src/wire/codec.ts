import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The kinds of fields that the messages of etcd have: integers, texts and bytes, other messages. */
export type FieldType = 'number' | 'boolean' | 'bytes' | MessageType;

/** A field: its name, its number, its type, and whether there may be many. */
export type Field = readonly [name: string, number: number, type: FieldType, many?: 'many'];

/** A message of Protocol Buffers as a table. */
export type MessageType = readonly Field[];

type Values = Readonly<Record<string, unknown>>;

/** Encodes the members of `value` that the table names. Members that are undefined are left out. */
export function encode(type: MessageType, value: object): Buffer {
  return viewOf(writeMessage(new BinaryWriter(), type, value as Values).finish());
}

function writeMessage(writer: BinaryWriter, type: MessageType, values: Values): BinaryWriter {
  for (const field of type) {
    const member = values[field[0]];
    if (member === undefined) continue;
    if (Array.isArray(member)) for (const one of member) writeField(writer, field, one);
    else writeField(writer, field, member);
  }
  return writer;
}

function writeField(writer: BinaryWriter, [, number, type]: Field, value: unknown): void {
  if (type === 'number' || type === 'boolean') {
    const integer = Number(value);
    writer.tag(number, WireType.Varint);
    // The same bytes, by the faster way where it is possible.
    if (integer <= 0xffffffff) writer.uint32(integer);
    else writer.uint64(integer);
    return;
  }
  writer.tag(number, WireType.LengthDelimited);
  if (typeof value === 'string') writer.string(value);
  else if (value instanceof Uint8Array) writer.bytes(value);
  else if (typeof type === 'object') writeMessage(writer.fork(), type, Object(value)).join();
}

/**
 * Decodes a message. Fields that the table does not name are skipped; those of `many` that are missing are empty lists.
 * Bytes are views into those that are given. Throws for bytes that are no message.
 */
export function decode(type: MessageType, bytes: Uint8Array): unknown {
  return readMessage(type, new BinaryReader(bytes), bytes.length);
}

function readMessage(type: MessageType, reader: BinaryReader, end: number): unknown {
  const message: Record<string, unknown> = {};
  const lists: Record<string, unknown[]> = {};
  for (const [name, , , many] of type) if (many) message[name] = lists[name] = [];
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    const field = type.find((one) => one[1] === number);
    if (!field) {
      reader.skip(wire, number);
      continue;
    }
    const value = readValue(reader, field[2]);
    const list = lists[field[0]];
    if (list) list.push(value);
    else message[field[0]] = value;
  }
  if (reader.pos > end) throw new RangeError('A message of etcd ends inside a field');
  return message;
}

/** Of integers, only ids of the cluster are larger than a double keeps, and negative ones stand for nothing. */
function readValue(reader: BinaryReader, type: FieldType): unknown {
  if (type === 'number') return Number(reader.uint64());
  if (type === 'boolean') return reader.bool();
  if (type === 'bytes') return viewOf(reader.bytes());
  const length = reader.uint32();
  return readMessage(type, reader, reader.pos + length);
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
