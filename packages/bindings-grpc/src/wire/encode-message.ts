import { isObject } from '@batonjs/protocol/json';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { entryKey, entryValue, writeStruct, writeTimestamp, writeValue } from './json-value.ts';
import type { Field, MessageType } from './message-types.ts';
import { WireProblem } from './wire-problem.ts';

/**
 * The bytes of a message, from its JSON form. Members that the message does not have are left out, and so are default
 * values without presence. A surrogate without its partner becomes U+FFFD. Throws a `WireProblem` with the path.
 */
export function encodeMessage(type: MessageType, value: unknown): Uint8Array {
  const writer = idle ?? new BinaryWriter();
  // A writer that an error leaves in the middle of a message is not used again.
  idle = undefined;
  writeMessage(writer, type, value);
  const bytes = writer.finish();
  if (bytes.length <= keptBytes) idle = writer;
  return bytes;
}

/** The writer of the message before: a new one costs each call a buffer. `finish` copies out of it. */
let idle: BinaryWriter | undefined;

/** A writer that wrote more is dropped with its buffer. */
const keptBytes = 65_536;

function writeMessage(writer: BinaryWriter, type: MessageType, value: unknown): void {
  if (!isObject(value)) throw new WireProblem('must be an object');
  for (const field of type.fields) {
    const member = value[field.jsonName];
    if (member === undefined || (member === null && field.kind !== 'Value')) continue;
    try {
      if (field.label === 'single') writeSingle(writer, field, member);
      else if (field.label === 'list') writeList(writer, field, member);
      else writeMap(writer, field, member);
    } catch (error) {
      throw WireProblem.at(error, field.jsonName);
    }
  }
}

function writeSingle(writer: BinaryWriter, field: Field, value: unknown): void {
  if (!field.hasPresence && (value === '' || value === false)) return;
  writeTagged(writer, field, field.tag, value);
}

function writeList(writer: BinaryWriter, field: Field, list: unknown): void {
  if (!Array.isArray(list)) throw new WireProblem('must be a list');
  for (let index = 0; index < list.length; index += 1) {
    try {
      writeTagged(writer, field, field.tag, list[index]);
    } catch (error) {
      throw WireProblem.at(error, index);
    }
  }
}

function writeMap(writer: BinaryWriter, field: Field, map: unknown): void {
  if (!isObject(map)) throw new WireProblem('must be an object');
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    writer.uint32(field.tag).fork().uint32(entryKey).string(key);
    try {
      writeTagged(writer, field, entryValue, value);
    } catch (error) {
      throw WireProblem.at(error, key);
    }
    writer.join();
  }
}

function writeTagged(writer: BinaryWriter, field: Field, tag: number, value: unknown): void {
  switch (field.kind) {
    case 'string':
      if (typeof value !== 'string') throw new WireProblem('must be a string');
      writer.uint32(tag).string(value);
      return;
    case 'bool':
      if (typeof value !== 'boolean') throw new WireProblem('must be true or false');
      writer.uint32(tag).bool(value);
      return;
    case 'int64': {
      const digits = toInt64(value);
      if (digits !== '0' || field.hasPresence || field.label !== 'single') writer.uint32(tag).int64(digits);
      return;
    }
    case 'int32':
    case 'enum': {
      const number = field.names ? toNumber(field.names, value) : toInt32(value);
      if (number !== 0 || field.hasPresence || field.label !== 'single') writer.uint32(tag).int32(number);
      return;
    }
    case 'bytes':
      writer.uint32(tag).bytes(toBytes(value));
      return;
  }
  writer.uint32(tag).fork();
  if (field.kind === 'message') writeMessage(writer, field.message!, value);
  else if (field.kind === 'Struct') writeStruct(writer, value);
  else if (field.kind === 'Value') writeValue(writer, value);
  else writeTimestamp(writer, value);
  writer.join();
}

function toInt32(value: unknown): number {
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && (number | 0) === number) return number;
  throw new WireProblem('must be an integer of 32 bits');
}

/** As decimal text: JSON has it so, because a number of JavaScript may be too small. */
function toInt64(value: unknown): string {
  const digits = typeof value === 'number' ? String(value) : value;
  if (typeof digits === 'string' && /^-?\d{1,19}$/.test(digits) && isInt64(BigInt(digits))) return digits;
  throw new WireProblem('must be an integer of 64 bits');
}

const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

function toNumber(names: readonly string[], value: unknown): number {
  const index = names.indexOf(value as string);
  if (index >= 0) return index;
  // A number without a name was read as its text.
  if (typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value)))
    return toInt32(value);
  throw new WireProblem(`must be one of ${names.slice(1).join(', ')}`);
}

/** Both alphabets of base64, padded or not. */
function toBytes(value: unknown): Uint8Array {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'base64');
    const digits = value.length - (value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0);
    // `Buffer` skips characters that are not base64, which makes the bytes fewer.
    if (digits % 4 !== 1 && bytes.length === Math.floor((digits * 3) / 4)) return bytes;
  }
  throw new WireProblem('must be base64');
}
