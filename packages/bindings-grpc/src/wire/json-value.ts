import { isObject } from '@batonjs/protocol/json';
import { type BinaryReader, type BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { CountingReader } from './counting-reader.ts';
import { WireProblem } from './wire-problem.ts';

/** The most levels of objects and lists in one `data` or `metadata`: other libraries read no more. */
export const maxJsonDepth = 30;

/** The most members of one object, as in the JSON of the other bindings. */
const maxMembers = 50_000;

const tagOf = (number: number, type: WireType) => (number << 3) | type;

const entries = tagOf(1, WireType.LengthDelimited);
export const entryKey = tagOf(1, WireType.LengthDelimited);
/** Its value, where that is a text or a message. */
export const entryValue = tagOf(2, WireType.LengthDelimited);
const nullValue = tagOf(1, WireType.Varint);
const numberValue = tagOf(2, WireType.Bit64);
const stringValue = tagOf(3, WireType.LengthDelimited);
const boolValue = tagOf(4, WireType.Varint);
const structValue = tagOf(5, WireType.LengthDelimited);
const listValue = tagOf(6, WireType.LengthDelimited);
const elements = tagOf(1, WireType.LengthDelimited);

const tooDeep = () =>
  new WireProblem(`is nested deeper than ${maxJsonDepth} levels, which gRPC cannot carry`, true);

/** Writes the inside of a `google.protobuf.Struct`. */
export function writeStruct(writer: BinaryWriter, value: unknown, levels = maxJsonDepth): void {
  if (!isObject(value)) throw new WireProblem('must be an object');
  if (levels === 0) throw tooDeep();
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    writer.uint32(entries).fork().uint32(entryKey).string(name).uint32(entryValue).fork();
    writeValue(writer, member, levels - 1);
    writer.join().join();
  }
}

/** Writes the inside of a `google.protobuf.Value`: any JSON. */
export function writeValue(writer: BinaryWriter, value: unknown, levels = maxJsonDepth): void {
  switch (typeof value) {
    case 'string':
      writer.uint32(stringValue).string(value);
      return;
    case 'number':
      if (!Number.isFinite(value)) throw new WireProblem('holds a number that is not finite');
      writer.uint32(numberValue).double(value);
      return;
    case 'boolean':
      writer.uint32(boolValue).bool(value);
      return;
    case 'object':
      if (value === null) writer.uint32(nullValue).int32(0);
      else if (Array.isArray(value)) writeList(writer, value, levels);
      else {
        writer.uint32(structValue).fork();
        writeStruct(writer, value, levels);
        writer.join();
      }
      return;
    default:
      throw new WireProblem('holds something that JSON cannot say');
  }
}

function writeList(writer: BinaryWriter, list: readonly unknown[], levels: number): void {
  if (levels === 0) throw tooDeep();
  writer.uint32(listValue).fork();
  for (const element of list) {
    writer.uint32(elements).fork();
    writeValue(writer, element ?? null, levels - 1);
    writer.join();
  }
  writer.join();
}

/** Reads the inside of a `google.protobuf.Struct` that ends at `end`, into `target`. Drops members named `__proto__`. */
export function readStruct(
  reader: CountingReader,
  end: number,
  target: Record<string, unknown> = {},
  levels = maxJsonDepth,
): Record<string, unknown> {
  if (levels === 0) throw tooDeep();
  let count = 0;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag !== entries) {
      skip(reader, tag);
      continue;
    }
    count += 1;
    if (count > maxMembers) throw new WireProblem(`holds an object of more than ${maxMembers} members`);
    const entryEnd = endOf(reader, end);
    let name = '';
    let value: unknown;
    while (reader.pos < entryEnd) {
      const inner = reader.uint32();
      if (inner === entryKey) name = reader.string(true);
      else if (inner === entryValue) value = readValue(reader, endOf(reader, entryEnd), levels - 1);
      else skip(reader, inner);
    }
    if (value === undefined) throw new WireProblem('holds a value without a kind');
    if (name !== '__proto__') target[name] = value;
  }
  return target;
}

/** Reads the inside of a `google.protobuf.Value` that ends at `end`. */
export function readValue(reader: CountingReader, end: number, levels = maxJsonDepth): unknown {
  reader.count();
  let value: unknown;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === stringValue) value = reader.string(true);
    else if (tag === numberValue) value = finite(reader.double());
    else if (tag === boolValue) value = reader.bool();
    else if (tag === nullValue) {
      reader.int32();
      value = null;
    } else if (tag === structValue) value = readStruct(reader, endOf(reader, end), {}, levels);
    else if (tag === listValue) value = readList(reader, endOf(reader, end), levels);
    else skip(reader, tag);
  }
  if (value === undefined) throw new WireProblem('holds a value without a kind');
  return value;
}

function readList(reader: CountingReader, end: number, levels: number): unknown[] {
  if (levels === 0) throw tooDeep();
  const list: unknown[] = [];
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === elements) list.push(readValue(reader, endOf(reader, end), levels - 1));
    else skip(reader, tag);
  }
  return list;
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new WireProblem('holds a number that is not finite');
}

/** Where the length-delimited value that begins here ends. Throws if it does not fit into what holds it. */
export function endOf(reader: BinaryReader, limit: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > limit) throw new WireProblem('ends too early');
  return end;
}

/** Skips a field that is not known. */
export function skip(reader: BinaryReader, tag: number): void {
  const number = tag >>> 3;
  if (number === 0) throw new WireProblem('holds a field without a number');
  reader.skip(tag & 7, number);
}

const seconds = (1 << 3) | WireType.Varint;
const nanos = (2 << 3) | WireType.Varint;

const pattern = /^\d{4}-\d\d-(\d\d)[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?$/;
const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** Writes the inside of a `google.protobuf.Timestamp`, to the millisecond. Without an offset, the text means UTC. */
export function writeTimestamp(writer: BinaryWriter, text: unknown): void {
  const [whole, day, , offset] = (typeof text === 'string' && pattern.exec(text)) || [];
  const at = whole ? Date.parse(offset ? whole.toUpperCase() : `${whole.toUpperCase()}Z`) : Number.NaN;
  // `Date` reads a day that its month does not have as one of the next.
  const isDay =
    whole !== undefined && new Date(`${whole.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(day);
  if (Number.isNaN(at) || !isDay) throw new WireProblem('must be an RFC 3339 timestamp');
  const second = Math.floor(at / 1_000);
  if (second !== 0) writer.uint32(seconds).int64(second);
  if (at !== second * 1_000) writer.uint32(nanos).int32((at - second * 1_000) * 1_000_000);
}

/** Reads the inside of a `google.protobuf.Timestamp` as `YYYY-MM-DDTHH:mm:ss.sssZ`, digits beyond the millisecond cut off. */
export function readTimestamp(reader: BinaryReader, end: number): string {
  let at = 0;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === seconds) at += Number(reader.int64()) * 1_000;
    else if (tag === nanos) at += Math.trunc(reader.int32() / 1_000_000);
    else skip(reader, tag);
  }
  if (!(at >= earliest && at <= latest)) throw new WireProblem('must be a time of the years 1 to 9999');
  return new Date(at).toISOString();
}
