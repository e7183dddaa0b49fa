import { between, pick } from '../../workload/random.ts';

/** Changes bytes at random, without regard to their meaning. */
type Change = (random: () => number, bytes: Buffer) => Buffer;

const around = (random: () => number, bytes: Buffer, insert: Buffer, drop = 0): Buffer => {
  const at = between(random, 0, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]);
};

const kinds: Record<string, Change> = {
  truncate: (random, bytes) => bytes.subarray(0, between(random, 0, bytes.length)),
  flip(random, bytes) {
    const copy = Buffer.from(bytes);
    const at = between(random, 0, Math.max(0, copy.length - 1));
    if (copy.length > 0) copy[at] = copy[at]! ^ (1 << between(random, 0, 7));
    return copy;
  },
  'insert odd bytes': (random, bytes) => {
    const length = between(random, 1, 8);
    return around(random, bytes, Buffer.from(Array.from({ length }, () => between(random, 0, 255))));
  },
  'insert bytes that are no UTF-8': (random, bytes) => {
    const wrong = ['\xff', '\xc0\x80', '\xed\xa0\x80', '\xf4\x90\x80\x80', '\x80', '\xe2\x82'];
    return around(random, bytes, Buffer.from(pick(random, wrong), 'latin1'));
  },
  'drop some': (random, bytes) => around(random, bytes, Buffer.alloc(0), between(random, 1, 20)),
  'say twice': (_random, bytes) => Buffer.concat([bytes, bytes]),
  'mark the byte order': (_random, bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]),
  'write as UTF-16': (_random, bytes) => Buffer.from(bytes.toString(), 'utf16le'),
  'add white space': (random, bytes) =>
    Buffer.concat([Buffer.from(pick(random, [' ', '\n\t', '\u00a0', '\0', '\u3000']).repeat(5)), bytes]),
  'leave out': () => Buffer.alloc(0),
  'too much': (_random, bytes) => Buffer.concat([bytes, Buffer.alloc(300_000, ' ')]),
};

/** Other bytes, and what was done. */
export function mutateBytes(random: () => number, bytes: Buffer): { bytes: Buffer; change: string } {
  const [change, apply] = pick(random, Object.entries(kinds));
  return { bytes: apply(random, bytes), change };
}
