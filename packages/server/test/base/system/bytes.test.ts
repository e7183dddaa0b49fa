import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ofNode from '../../../src/base/system/bytes.ts';
import * as ofTheWeb from '../../../src/base/system/bytes-web.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constant('\ud800'),
);
const same = (call: (bytes: typeof ofNode, text: string, raw: Uint8Array) => unknown) =>
  fc.assert(
    fc.property(anyText, fc.uint8Array(), (text, raw) => {
      expect(call(ofTheWeb, text, raw)).toEqual(call(ofNode, text, raw));
    }),
  );

describe('without Node.js', () => {
  it('a text has the same hash, so that a repeated message meets its task after a move', () => {
    same(({ sha256 }, text) => [sha256(text, 'hex'), sha256(text, 'base64url')]);
  });

  it('bytes and texts have the same base64, and page tokens are read back', () => {
    same(({ toBase64, toBase64Url }, text, raw) => [toBase64(raw), toBase64Url(text)]);
    same(({ toBase64Url, fromBase64Url }, text) => fromBase64Url(toBase64Url(text)));
    const long = new Uint8Array(100_000).fill(200);
    expect(ofTheWeb.toBase64(long)).toBe(ofNode.toBase64(long));
  });

  it('the same bytes are UTF-8, byte order marks included', () => {
    same(({ fromUtf8 }, _text, raw) => fromUtf8(raw));
    same(({ fromUtf8, utf8Length }, text) => [fromUtf8(new TextEncoder().encode(text)), utf8Length(text)]);
    const marked = new Uint8Array([0xef, 0xbb, 0xbf, 0x7b]);
    expect(ofTheWeb.fromUtf8(marked)).toBe('\ufeff{');
    expect(ofTheWeb.fromUtf8(new Uint8Array([0xff]))).toBeUndefined();
    expect(ofTheWeb.fromUtf8(marked)).toBe(ofNode.fromUtf8(marked));
  });

  it('chunks are joined, and ids are written and filled, in the same way', () => {
    same(({ concat }, _text, raw) => Array.from(concat([raw, new Uint8Array(3), raw])));
    for (const { writableText, fillRandom } of [ofNode, ofTheWeb]) {
      const { bytes, read } = writableText('0-0');
      bytes[0] = 0x61;
      expect(read()).toBe('a-0');
      const random = new Uint8Array(64);
      fillRandom(random);
      expect(new Set(random).size).toBeGreaterThan(1);
    }
  });
});
