import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'vitest';

/** Secrets that are unlike all else, and the search for them. */
export interface Canaries {
  /** A secret for one place: a token with characters that URLs and Base64 write in other ways. */
  plant(place: string): string;
  /** Notes where a secret arrived that it is for. */
  arrive(text: string): void;
  /** Notes what left the process: text, bytes, or a value as a logger or an exporter prints it. */
  leave(where: string, what: unknown): void;
  /** Fails unless each secret arrived, and where one left that is not allowed: `place in where`. */
  check(allowed?: readonly string[]): void;
}

/** Text with what is percent-encoded in it, once or twice, as it is. */
const decoded = (text: string): string =>
  [1, 2].reduce(
    (read) =>
      read.replaceAll(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
    text,
  );

/** The ways in which a secret can stand in text that is not percent-encoded. */
function formsOf(secret: string): readonly string[] {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from(`${'-'.repeat(shift)}${secret}`).toString('base64');
    // The first and the last characters depend on what stands beside the secret.
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('hex'),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

const all = {
  depth: Number.POSITIVE_INFINITY,
  maxArrayLength: Number.POSITIVE_INFINITY,
  maxStringLength: Number.POSITIVE_INFINITY,
  breakLength: Number.POSITIVE_INFINITY,
} as const;

/** A value as a logger prints it; of an error also the stack, its causes and its members. */
const print = (what: unknown): string => {
  if (typeof what === 'string') return what;
  if (!ArrayBuffer.isView(what)) return inspect(what, all);
  // Not the rest of its buffer: Node.js shares one among small values.
  return Buffer.from(what.buffer, what.byteOffset, what.byteLength).toString('latin1');
};

export function canaries(): Canaries {
  const planted = new Map<string, readonly string[]>();
  const arrived = new Set<string>();
  const left: { readonly where: string; readonly text: string }[] = [];
  const placesIn = (text: string) => {
    const texts = new Set([text, decoded(text)]);
    const isIn = (form: string) => [...texts].some((each) => each.includes(form));
    return [...planted].flatMap(([place, forms]) => (forms.some(isIn) ? [place] : []));
  };
  return {
    plant(place) {
      const secret = `c+n/${randomBytes(9).toString('hex')}~ry`;
      planted.set(place, formsOf(secret));
      return secret;
    },
    arrive(text) {
      for (const place of placesIn(text)) arrived.add(place);
    },
    leave: (where, what) => void left.push({ where, text: print(what) }),
    check(allowed = []) {
      expect([...arrived].sort()).toEqual([...planted.keys()].sort());
      const found = left.flatMap(({ where, text }) => placesIn(text).map((place) => `${place} in ${where}`));
      expect([...new Set(found)].sort()).toEqual([...allowed].sort());
    },
  };
}
