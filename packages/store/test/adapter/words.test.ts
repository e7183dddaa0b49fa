import { describe, expect, it } from 'vitest';
import { prefixesOf, wordsOf } from '../../src/adapter/words.ts';

describe('the words of a text', () => {
  it.each([
    ['', []],
    ['?! "*" -- 👋 \u0000 \ud800', []],
    ['Refund, refund; REFUND', ['refund']],
    ['a_b c-d e.f@g', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
    ['Zoë café CAFE\u0301 ﬁn ①', ['zoe', 'cafe', 'fin', '1']],
    ['Straße STRASSE', ['strasse']],
    ['ΟΔΟΣ οδός', ['οδοσ']],
    ['İstanbul', ['istanbul']],
    ['한국어', ['한국어']],
    ['退', ['退']],
    ['退款单', ['退款', '款单', '单']],
    ['iPhone15手机', ['iphone15', '手机', '机']],
    ['コーヒー', ['コー', 'ーヒ', 'ヒー', 'ー']],
    ['ガ ｶﾞ', ['ガ']],
    ['𠮷野家', ['𠮷野', '野家', '家']],
  ])('%j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('are those of its first 20,000 characters', () => {
    expect(wordsOf(`${'x '.repeat(9_999)}y z`)).toEqual(['x', 'y']);
  });

  it('have 40 characters at most, each of them whole', () => {
    expect(wordsOf('x'.repeat(50))).toEqual(['x'.repeat(40)]);
    expect(wordsOf('𐐨'.repeat(50))).toEqual(['𐐨'.repeat(40)]);
    const different = Array.from({ length: 50 }, (_, n) => String.fromCodePoint(0x4e_00 + n));
    expect(wordsOf(different.join('')).length).toBe(50);
  });
});

describe('what a search looks for', () => {
  it.each([
    ['', []],
    ['"*"', []],
    ['Refund refund* (inv)', ['refund', 'inv']],
    ['退', ['退']],
    ['退款', ['退款']],
    ['退款单', ['退款', '款单']],
    ['退 款', ['退', '款']],
    ['x'.repeat(50), ['x'.repeat(40)]],
  ])('%j', (typed, prefixes) => {
    expect(prefixesOf(typed)).toEqual(prefixes);
  });

  it('is 32 words at most', () => {
    const words = Array.from({ length: 40 }, (_, n) => `w${n}`);
    expect(prefixesOf(words.join(' '))).toEqual(words.slice(0, 32));
  });

  it('is always found by a text that has it', () => {
    for (const text of ['Zoë 退款单 iPhone15手机', 'ภาษาไทย İ ﷺ', 'x'.repeat(60)])
      for (const sought of prefixesOf(text))
        expect(
          wordsOf(text).some((word) => word.startsWith(sought)),
          sought,
        ).toBe(true);
  });
});
