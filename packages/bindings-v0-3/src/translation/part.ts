import type { Part, PartAttributes, Struct } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { codec, compact, type FileBytes, type Loose, present, text, type Way } from '../wire/codec.ts';
import type { V03Part } from '../wire/objects.ts';

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

/** One piece of content. Nothing is lost: attributes that 0.3 has no member for go to `metadata`. */
export const part = codec<V03Part, Part>({
  decode(given: Loose, way) {
    const part = way.isLenient ? spelled(given) : given;
    const { kind, metadata } = part;
    if (kind === undefined && isNewer(part)) return { ...part, ...rawIn(part.raw, part.mediaType, way) };
    if (kind === 'file') {
      const { bytes, uri: url, name: filename, mimeType: mediaType } = fileIn(part, way);
      return compact({ ...rawIn(bytes, mediaType, way), url, filename, mediaType, metadata });
    }
    const isWrapped = kind === 'data' && isWrapping(part);
    const about = unpack(metadata, isWrapped);
    if (kind === 'text') return compact({ text: part.text, ...about });
    if (kind === 'data') return compact({ data: isWrapped ? Object(part.data).value : part.data, ...about });
    return compact(about);
  },

  encode(part, way) {
    const { isProto } = way;
    const { metadata, mediaType, filename } = part;
    if ('raw' in part || 'url' in part) {
      const content =
        'raw' in part
          ? { [isProto ? 'fileWithBytes' : 'bytes']: writeFile(part.raw, way) }
          : { [isProto ? 'fileWithUri' : 'uri']: part.url };
      const file = compact({ ...content, name: filename, mimeType: mediaType });
      return { ...(isProto ? { file } : { kind: 'file', file }), ...(metadata && { metadata }) };
    }
    const isWrapped = 'data' in part && !isObject(part.data);
    const packed = pack(part, isWrapped);
    const about = packed && { metadata: packed };
    if ('text' in part) return { ...(isProto ? undefined : { kind: 'text' }), text: part.text, ...about };
    const data = isWrapped ? { value: part.data } : part.data;
    return isProto ? { data: { data }, ...about } : { kind: 'data', data, ...about };
  },
});

/** Whether a part without a kind is one of 1.0. Strict readers refuse parts without a kind before. */
const isNewer = (part: Loose) =>
  ['raw', 'url', 'mediaType', 'filename'].some((name) => part[name] !== undefined);

/** A part with its `kind` alone, which may be `type`, or be missing. */
function spelled({ kind, type, ...part }: Loose): Loose {
  const named = text(kind, type);
  if (named !== undefined) return { kind: named, ...part };
  if (isNewer(part)) return part;
  const found = ['text', 'file', 'data'].find((name) => name in part);
  // Protocol buffers wrap the object of a data part once more.
  const { data } = part;
  const isNested =
    found === 'data' && isObject(data) && Object.keys(data).length === 1 && isObject(data.data);
  return { kind: found, ...part, ...(isNested && { data: data.data }) };
}

/** The members of a file, which have had several names. */
function fileIn({ file: given }: Loose, { isLenient }: Way): Loose {
  if (!isObject(given)) return {};
  if (!isLenient) return given;
  const file = present(given);
  const bytes = text(file.bytes, file.fileWithBytes, file.data);
  const uri = bytes === undefined ? text(file.uri, file.fileWithUri, file.url) : undefined;
  return { bytes, uri, name: text(file.name, file.filename), mimeType: text(file.mimeType, file.mediaType) };
}

const rawIn = (bytes: unknown, mediaType: unknown, way: Way) =>
  bytes === undefined ? {} : { raw: readFile(bytes, mediaType, way) };

const isWrapping = ({ data, metadata }: Loose): boolean =>
  isObject(metadata) &&
  metadata[WRAPPED] === true &&
  isObject(data) &&
  Object.keys(data).length === 1 &&
  'value' in data &&
  !isObject(data.value);

function pack({ metadata, mediaType, filename }: PartAttributes, isWrapped: boolean): Struct | undefined {
  const keeps = mediaType !== undefined || filename !== undefined;
  if (!keeps && !isWrapped) return metadata;
  const isEmpty = metadata && Object.keys(metadata).length === 0;
  const kept: Kept = compact({ mediaType, filename, empty: isEmpty ? true : undefined });
  return { ...metadata, ...(isWrapped && { [WRAPPED]: true }), ...((keeps || isEmpty) && { [KEPT]: kept }) };
}

/** The attributes of a part, from its metadata. What {@link pack} did not write stays in the metadata. */
function unpack(metadata: unknown, isWrapped: boolean): Loose {
  if (!isObject(metadata)) return { metadata };
  const { [KEPT]: given, ...others } = metadata;
  const kept = isKept(given, isWrapped) ? given : undefined;
  if (!kept && !isWrapped) return { metadata };
  const rest = kept ? others : { ...metadata };
  if (isWrapped) delete rest[WRAPPED];
  const isEmpty = Object.keys(rest).length === 0;
  // `pack` writes `empty` only without other members: this marker is another program's.
  if (kept?.empty && !isEmpty) return { metadata };
  const { filename, mediaType, empty } = kept ?? {};
  return { filename, mediaType, metadata: isEmpty && !empty ? undefined : rest };
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

/** The clients of the SDKs that write and read base64 text. */
const textual = /\b(python|go-http-client|grpc-go)\b/i;

/** What a client reads and writes, by its `User-Agent`; undefined if that says nothing. */
export const fileBytesOf = (userAgent: string | undefined): FileBytes | undefined =>
  userAgent !== undefined && textual.test(userAgent) ? 'base64' : undefined;

/** The bytes of a file as they are to be sent to a peer that writes files so. */
const writeFile = (raw: string, { files }: Way): string => (files === 'base64' ? btoa(padded(raw)) : raw);

/**
 * The bytes of a file as a peer meant them that writes files so. Of a peer that is not known, a file is taken for base64
 * text if all of it is such text although its media type is not one of text.
 */
const readFile = (raw: unknown, mediaType: unknown, { files }: Way): unknown =>
  typeof raw === 'string' && (files === 'base64' || (files === 'guess' && isBinary(mediaType)))
    ? (textIn(raw) ?? raw)
    : raw;

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
