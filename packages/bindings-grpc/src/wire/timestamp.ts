import { type BinaryReader, type BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { skip } from './json-value.ts';
import { WireProblem } from './wire-problem.ts';

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
