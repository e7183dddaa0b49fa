import type { Json, Part, Struct } from '@batonjs/protocol';
import type { V03Part } from '../wire/objects.ts';
import { compact, ifObject, isObject } from '../wire/shape.ts';

/** The member of `metadata` that keeps the attributes that 0.3 has no member for. */
const KEPT = 'https://batonjs.dev/a2a/part';

/** Marks `data` that was wrapped as `{ value }`, because 0.3 accepts objects only. Other SDKs use the same name. */
const WRAPPED = 'data_part_compat';

/** The value of {@link KEPT}. `empty`: the part had a `metadata` without members. */
interface Kept {
  mediaType?: string;
  filename?: string;
  empty?: true;
}

/** From 0.3. */
export const upPart = (part: V03Part): Part => ifObject(part, up);

function up(part: V03Part): Part {
  if (part.kind === 'file') {
    const { bytes, uri, name: filename, mimeType: mediaType } = Object(part.file) as Record<string, string>;
    const { metadata } = part;
    return compact({ raw: bytes, url: uri, filename, mediaType, metadata }) as never;
  }
  const isWrapped = part.kind === 'data' && isWrapping(part);
  const { metadata, mediaType, filename } = unpack(part.metadata, isWrapped);
  const about = { filename, mediaType, metadata };
  if (part.kind === 'text') return compact({ text: part.text, ...about });
  if (part.kind === 'data') {
    return compact({ data: (isWrapped ? part.data.value : part.data) as Json, ...about });
  }
  return compact(about) as never;
}

/** To 0.3. Nothing is lost: attributes that 0.3 has no member for go to `metadata`. */
export function downPart(part: Part): V03Part {
  const { metadata, mediaType, filename } = part;
  const about = { name: filename, mimeType: mediaType };
  if ('raw' in part) return compact({ kind: 'file', file: compact({ bytes: part.raw, ...about }), metadata });
  if ('url' in part) return compact({ kind: 'file', file: compact({ uri: part.url, ...about }), metadata });
  const isWrapped = 'data' in part && !isObject(part.data);
  const packed = pack(part, isWrapped);
  if ('text' in part) return compact({ kind: 'text', text: part.text, metadata: packed });
  const data = isWrapped ? { value: part.data } : (part.data as Struct);
  return compact({ kind: 'data', data, metadata: packed });
}

const isWrapping = ({ data, metadata }: { data: unknown; metadata?: Struct }): boolean =>
  metadata?.[WRAPPED] === true &&
  isObject(data) &&
  Object.keys(data).length === 1 &&
  'value' in data &&
  !isObject(data.value);

function pack({ metadata, mediaType, filename }: Part, isWrapped: boolean): Struct | undefined {
  const keeps = mediaType !== undefined || filename !== undefined;
  if (!keeps && !isWrapped) return metadata;
  const isEmpty = metadata && Object.keys(metadata).length === 0;
  const kept: Kept = compact({ mediaType, filename, empty: isEmpty ? true : undefined });
  return {
    ...metadata,
    ...(isWrapped && { [WRAPPED]: true }),
    ...((keeps || isEmpty) && { [KEPT]: kept }),
  };
}

function unpack(metadata: Struct | undefined, isWrapped: boolean): Kept & { metadata?: Struct | undefined } {
  if (!isObject(metadata)) return { metadata };
  const { [KEPT]: given, ...others } = metadata;
  const kept = isKept(given, isWrapped) ? given : undefined;
  const rest: Struct = kept ? others : { ...metadata };
  if (isWrapped) delete rest[WRAPPED];
  if (!kept && !isWrapped) return { metadata };
  const isEmpty = Object.keys(rest).length === 0;
  // `pack` writes `empty` only without other members: this marker is another program's.
  if (kept?.empty && !isEmpty) return { metadata };
  return { ...kept, metadata: isEmpty && !kept?.empty ? undefined : rest };
}

function isKept(value: unknown, isWrapped: boolean): value is Kept {
  if (!isObject(value)) return false;
  const { mediaType, filename, empty, ...others } = value;
  const texts = [mediaType, filename].filter((text) => text !== undefined);
  return (
    Object.keys(others).length === 0 &&
    (texts.length > 0 || (isWrapped && empty === true)) &&
    texts.every((text) => typeof text === 'string') &&
    (empty === undefined || empty === true)
  );
}
