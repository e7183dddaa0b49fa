import type { Part } from '@batonjs/protocol';
import { isObject } from '../wire/shape.ts';

/**
 * What a peer writes into the field for the bytes of a file, on HTTP+JSON and gRPC: the `bytes`, as the proto has them, or
 * their base64 text (`base64`), as the SDKs for Python and Go do. In JSON such a file is base64 twice.
 */
export type FileBytes = 'bytes' | 'base64';

/** The clients of the SDKs that write and read base64 text. */
const textual = /\b(python|go-http-client|grpc-go)\b/i;

/** What a client reads and writes, by its `User-Agent`; undefined if that says nothing. */
export const fileBytesOf = (userAgent: string | undefined): FileBytes | undefined =>
  userAgent !== undefined && textual.test(userAgent) ? 'base64' : undefined;

/** Members of messages, tasks, events and params that lead to parts. */
const holders = ['message', 'task', 'statusUpdate', 'artifactUpdate', 'status', 'artifact'] as const;
const lists = ['history', 'artifacts'] as const;

/** Params or a result of 1.0 as they are to be sent to a peer that writes files so. */
export const writeFiles = <Value>(value: Value, style: FileBytes | undefined): Value =>
  style === 'base64' ? (changed(value, (raw) => btoa(padded(raw))) as Value) : value;

/**
 * Params or a result of 1.0 as a peer meant them that writes files so. Of a peer that is not known, a file is taken for
 * base64 text if all of it is such text although its media type is not one of text.
 */
export const readFiles = <Value>(value: Value, style: FileBytes | undefined): Value =>
  style === 'bytes'
    ? value
    : (changed(value, (raw, mediaType) =>
        style === 'base64' || isBinary(mediaType) ? (textIn(raw) ?? raw) : raw,
      ) as Value);

const isBinary = (mediaType: unknown): boolean =>
  typeof mediaType === 'string' && !/^text\/|json|xml|javascript|yaml|base64/i.test(mediaType);

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The base64 text that the bytes of a file are; undefined if they are no such text. */
function textIn(raw: string): string | undefined {
  try {
    // Most files are known for what they are by their beginning, which is short whatever their length.
    if (!base64.test(atob(raw.slice(0, 64)))) return undefined;
    const text = atob(raw);
    return text.length % 4 === 0 && base64.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Base64 with the letters and the padding that every reader takes. */
function padded(raw: string): string {
  const text = raw
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

type Change = (raw: string, mediaType: unknown) => string;

function changed(value: unknown, change: Change): unknown {
  if (Array.isArray(value)) return value.map((element) => changed(element, change));
  if (!isObject(value)) return value;
  const members: Record<string, unknown> = { ...value };
  for (const name of holders) if (isObject(value[name])) members[name] = changed(value[name], change);
  for (const name of lists) if (Array.isArray(value[name])) members[name] = changed(value[name], change);
  if (Array.isArray(value.parts)) members.parts = value.parts.map((part) => changedPart(part, change));
  return members;
}

function changedPart(part: Part, change: Change): Part {
  return isObject(part) && 'raw' in part && typeof part.raw === 'string'
    ? ({ ...part, raw: change(part.raw, part.mediaType) } as Part)
    : part;
}
