import { sha256 as hash } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type * as bytes from './bytes.ts';

const encoder = new TextEncoder();
// Like Node.js, they keep a byte order mark.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

// Not by web crypto, which only answers later.
export const sha256: typeof bytes.sha256 = (text, encoding) => {
  const digest = hash(typeof text === 'string' ? encoder.encode(text) : text);
  return encoding === 'hex' ? bytesToHex(digest) : urlSafe(toBase64(digest));
};

export const fillRandom: typeof bytes.fillRandom = (bytes) =>
  void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);

export const fromUtf8: typeof bytes.fromUtf8 = (bytes) => {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
};

export const utf8Length: typeof bytes.utf8Length = (text) => encoder.encode(text).byteLength;

export const concat: typeof bytes.concat = (chunks) => {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
};

export const sha256Stream: typeof bytes.sha256Stream = () => {
  const state = hash.create();
  return { update: (bytes) => void state.update(bytes), hex: () => bytesToHex(state.digest()) };
};

export const fromBase64: typeof bytes.fromBase64 = (base64) =>
  Uint8Array.from(atob(base64.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );

/** A call takes a limited number of arguments. */
const perCall = 8_192;

export const toBase64: typeof bytes.toBase64 = (bytes) => {
  let binary = '';
  for (let at = 0; at < bytes.byteLength; at += perCall)
    binary += String.fromCharCode(...bytes.subarray(at, at + perCall));
  return btoa(binary);
};

export const toBase64Url: typeof bytes.toBase64Url = (text) => urlSafe(toBase64(encoder.encode(text)));

export const fromBase64Url: typeof bytes.fromBase64Url = (text) => lenient.decode(fromBase64(text));

export const writableText: typeof bytes.writableText = (text) => {
  const bytes = encoder.encode(text);
  return { bytes, read: () => lenient.decode(bytes) };
};

const urlSafe = (base64: string): string =>
  base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
