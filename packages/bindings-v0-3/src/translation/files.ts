import type { FileBytes, Way } from '../wire/codec.ts';

/** The clients of the SDKs that write and read base64 text. */
const textual = /\b(python|go-http-client|grpc-go)\b/i;

/** What a client reads and writes, by its `User-Agent`; undefined if that says nothing. */
export const fileBytesOf = (userAgent: string | undefined): FileBytes | undefined =>
  userAgent !== undefined && textual.test(userAgent) ? 'base64' : undefined;

/** The bytes of a file as they are to be sent to a peer that writes files so. */
export const writeFile = (raw: string, { files }: Way): string =>
  files === 'base64' ? btoa(padded(raw)) : raw;

/**
 * The bytes of a file as a peer meant them that writes files so. Of a peer that is not known, a file is taken for base64
 * text if all of it is such text although its media type is not one of text.
 */
export const readFile = (raw: unknown, mediaType: unknown, { files }: Way): unknown =>
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
