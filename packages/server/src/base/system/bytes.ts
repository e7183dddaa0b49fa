import { isUtf8 } from 'node:buffer';
import { createHash, hash, randomFillSync } from 'node:crypto';

/** The SHA-256 of a text in UTF-8. */
export const sha256 = (text: string | Uint8Array, encoding: 'hex' | 'base64url'): string =>
  hash('sha256', text, encoding);

/** The SHA-256, in hex, of bytes that come one after another. */
export function sha256Stream(): { update(bytes: Uint8Array): void; hex(): string } {
  const all = createHash('sha256');
  return { update: (bytes) => void all.update(bytes), hex: () => all.digest('hex') };
}

/** Fills an array of at most 65,536 bytes with random numbers that no one can guess. */
export const fillRandom = (bytes: Uint8Array): void => void randomFillSync(bytes);

/** The text that these bytes are in UTF-8, a byte order mark included. Undefined if they are not UTF-8. */
export const fromUtf8 = (bytes: Uint8Array): string | undefined =>
  isUtf8(bytes) ? bufferOf(bytes).toString('utf8') : undefined;

/** How many bytes a text has in UTF-8. */
export const utf8Length = (text: string): number => Buffer.byteLength(text);

/** One array with the bytes of all. */
export const concat = (chunks: readonly Uint8Array[]): Uint8Array => Buffer.concat(chunks);

/** Bytes as base64, with padding. */
export const toBase64 = (bytes: Uint8Array): string => bufferOf(bytes).toString('base64');

/** The bytes that base64 stands for, with or without padding, also of the alphabet of URLs. */
export const fromBase64 = (base64: string): Uint8Array => Buffer.from(base64, 'base64');

/** A text in UTF-8 as base64url, without padding. */
export const toBase64Url = (text: string): string => Buffer.from(text).toString('base64url');

/** The text that `toBase64Url` was given. Any other text gives another one, or throws. */
export const fromBase64Url = (text: string): string => Buffer.from(text, 'base64url').toString();

/** Bytes that are written again and again, and read as one string. They begin as this text of ASCII. */
export function writableText(text: string): { readonly bytes: Uint8Array; readonly read: () => string } {
  const bytes = Buffer.from(text);
  return { bytes, read: () => bytes.toString('latin1') };
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
