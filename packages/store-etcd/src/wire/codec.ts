import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The kinds of fields that the messages of etcd have: integers, texts and bytes, other messages. */
type FieldType = keyof Scalars<unknown> | Nested;

type Values = Record<string, unknown>;

/** A message inside another one. */
interface Nested {
  readonly empty: Values;
  write(writer: BinaryWriter, values: Values): BinaryWriter;
  read(reader: BinaryReader, end: number): Values;
}

/** The number of a field, its type, and whether there may be many. */
type Field = readonly [number: number, type: FieldType, many?: 'many'];

/** The fields of a message by their names. */
interface Fields {
  readonly [name: string]: Field;
}

interface Scalars<Bytes> {
  readonly number: number;
  readonly boolean: boolean;
  readonly bytes: Bytes;
}

/** A value to send. Members that are undefined are left out. */
export type SentOf<Type> =
  Type extends Message<infer Members>
    ? {
        readonly [Name in keyof Members]?: Members[Name] extends readonly [number, infer Each, 'many']
          ? readonly SentOf<Each>[]
          : SentOf<Members[Name][1]>;
      }
    : Scalars<string | Uint8Array>[Type & keyof Scalars<unknown>];

/** A value that was received. A member that was left out is 0, false or empty, as Protocol Buffers have it. */
export type ReceivedOf<Type> =
  Type extends Message<infer Members>
    ? {
        readonly [Name in keyof Members]: Members[Name] extends readonly [number, infer Each, 'many']
          ? readonly ReceivedOf<Each>[]
          : ReceivedOf<Members[Name][1]>;
      }
    : Scalars<Buffer>[Type & keyof Scalars<unknown>];

/** A message of Protocol Buffers as a table of its fields. */
export class Message<Members extends Fields> implements Nested {
  /** A message without fields, as it is received. */
  readonly empty: Values;
  readonly #fields: readonly (readonly [string, Field])[];
  readonly #byNumber = new Map<number, readonly [string, Field]>();

  constructor(members: Members) {
    this.#fields = Object.entries(members);
    for (const field of this.#fields) this.#byNumber.set(field[1][0], field);
    this.empty = Object.fromEntries(this.#fields.map(([name, field]) => [name, emptyOf(field)]));
  }

  encode(value: SentOf<Message<Members>>): Buffer {
    return viewOf(this.write(new BinaryWriter(), value).finish());
  }

  /** Skips fields that the table does not name. Bytes are views into those that are given. Throws for no message. */
  decode(bytes: Uint8Array): ReceivedOf<Message<Members>> {
    return this.read(new BinaryReader(bytes), bytes.length) as ReceivedOf<Message<Members>>;
  }

  write(writer: BinaryWriter, values: Values): BinaryWriter {
    for (const [name, field] of this.#fields) {
      const member = values[name];
      if (Array.isArray(member)) for (const one of member) writeField(writer, field, one);
      else if (member !== undefined) writeField(writer, field, member);
    }
    return writer;
  }

  read(reader: BinaryReader, end: number): Values {
    let message = this.empty;
    while (reader.pos < end) {
      const [number, wire] = reader.tag();
      const known = this.#byNumber.get(number);
      if (!known) {
        reader.skip(wire, number);
        continue;
      }
      const [name, [, type, many]] = known;
      const value = readValue(reader, type);
      if (message === this.empty) message = { ...message };
      const list = message[name];
      if (!many) message[name] = value;
      else if (Array.isArray(list) && list !== this.empty[name]) list.push(value);
      else message[name] = [value];
    }
    if (reader.pos > end) throw new RangeError('A message of etcd ends inside a field');
    return message;
  }
}

const nothing = Buffer.alloc(0);

function emptyOf([, type, many]: Field): unknown {
  if (many) return [];
  if (typeof type === 'object') return type.empty;
  return { number: 0, boolean: false, bytes: nothing }[type];
}

function writeField(writer: BinaryWriter, [number, type]: Field, value: unknown): void {
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
  else if (typeof type === 'object') type.write(writer.fork(), Object(value)).join();
}

/** Of integers, only ids of the cluster are larger than a double keeps, and negative ones stand for nothing. */
function readValue(reader: BinaryReader, type: FieldType): unknown {
  if (type === 'number') return Number(reader.uint64());
  if (type === 'boolean') return reader.bool();
  if (type === 'bytes') return viewOf(reader.bytes());
  const length = reader.uint32();
  return type.read(reader, reader.pos + length);
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
