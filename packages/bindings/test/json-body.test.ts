import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { httpJsonClient } from '../src/http-json.ts';
import { jsonBody, parseAnswer, parseJson } from '../src/index.ts';
import { jsonRpcClient } from '../src/json-rpc.ts';
import { refusal } from './exchange.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('parseJson', () => {
  it.each(['', '{', '{"a":}', 'undefined', "{'a':1}", '[1,]', '\ufeff{}'])(
    'refuses %j as a parse error',
    (text) => {
      expect(refusal(() => parseJson(text))).toEqual({ reason: 'PARSE_ERROR', fields: undefined });
    },
  );

  it('shows nothing of the text that it refuses', () => {
    expect(() => parseJson('{"password":"hunter2"')).toThrow('Invalid JSON payload');
  });

  it.each([nested, objects])('takes 100 levels and refuses 101', (nest) => {
    expect(parseJson(nest(100))).toEqual(JSON.parse(nest(100)));
    expect(refusal(() => parseJson(nest(101)))).toEqual({ reason: 'INVALID_REQUEST', fields: [''] });
  });

  it.each(['1e400', '{"a":[1,{"b":-1e309}]}'])('refuses %s, which no double can hold', (text) => {
    expect(refusal(() => parseJson(text))).toEqual({ reason: 'INVALID_REQUEST', fields: [''] });
    expect(refusal(() => jsonBody({ value: JSON.parse(text) as unknown })?.json()).reason).toBe(
      'INVALID_REQUEST',
    );
  });

  describe('of at most 1,000 values', () => {
    const limits = { maxValues: 1_000 };
    const read = (text: string) => parseJson(text, limits);
    const tooMany = { reason: 'INVALID_REQUEST', fields: [''] };
    const list = (length: number, item = '0') => `[${Array(length).fill(item).join(',')}]`;

    it.each([
      ['numbers', list(999), list(1_000)],
      ['empty lists', list(999, '[]'), list(1_000, '[]')],
      ['members', `{"a":${list(998)}}`, `{"a":${list(999)}}`],
      ['pretty text', list(999, '\n 1 '), list(1_000, '\n 1 ')],
    ])('takes them, and refuses one more: %s', (_, enough, more) => {
      expect(read(enough)).toEqual(JSON.parse(enough));
      expect(refusal(() => read(more))).toEqual(tooMany);
      expect(refusal(() => jsonBody({ value: JSON.parse(more) }, limits)?.json())).toEqual(tooMany);
    });

    it('does not count what stands in texts', () => {
      const text = JSON.stringify(['[{,'.repeat(5_000), '"\\",[,'.repeat(5_000), '\\', '{'.repeat(5_000)]);
      expect(read(text)).toEqual(JSON.parse(text));
    });

    it('refuses far more without parsing them', () => {
      const parse = vi.spyOn(JSON, 'parse');
      onTestFinished(() => parse.mockRestore());
      const far = [
        list(5_000),
        `["\\\\",${list(5_000).slice(1)}`,
        `["x\\"\\\\",${list(5_000).slice(1)}`,
        `${'['.repeat(5_000)}`,
        `{"a":${list(5_000, '{}')}}`,
      ];
      for (const text of far) expect(refusal(() => read(text))).toEqual(tooMany);
      expect(parse).not.toHaveBeenCalled();
    });

    it('takes members of 200 different names, however often they come', () => {
      const rows = (names: number) =>
        Object.fromEntries(Array.from({ length: names }, (_, n) => [`n${n}`, 0] as const));
      const text = JSON.stringify([rows(200), rows(200), rows(200)]);
      expect(read(text)).toEqual(JSON.parse(text));
      expect(refusal(() => read(JSON.stringify([rows(150), { ...rows(200), more: 1 }])))).toEqual(tooMany);
    });
  });

  it('takes 50,000 members of one object, and refuses one more', () => {
    const members = (count: number) =>
      JSON.stringify({ all: Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n])) });
    expect(parseJson(members(50_000))).toHaveProperty('all.k49999', 49_999);
    expect(refusal(() => parseJson(members(50_001)))).toEqual({ reason: 'INVALID_REQUEST', fields: [''] });
    expect(parseJson(JSON.stringify(Array(50_001).fill(0)))).toHaveLength(50_001);
  });

  it.each(['1e308', '-1.7976931348623157e308', '5e-400'])('takes %s', (text) => {
    expect(parseJson(text)).toBe(Number(text));
  });

  it('takes another limit, and names it', () => {
    expect(parseJson('[[1]]', { maxDepth: 2 })).toEqual([[1]]);
    try {
      parseJson('[[[1]]]', { maxDepth: 2 });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        details: [{ fieldViolations: [{ description: 'is nested deeper than 2 levels' }] }],
      });
    }
  });

  it('survives any depth, whatever limit it is given', () => {
    for (const nest of [nested, objects]) {
      expect(refusal(() => parseJson(nest(200_000), { maxDepth: 1_000_000 })).reason).toBe('INVALID_REQUEST');
    }
  });

  it('drops members named __proto__ at every level', () => {
    const value = parseJson('{"a":[{"__proto__":{"evil":true},"b":1}],"__proto__":1}') as { a: object[] };
    expect(value).toEqual({ a: [{ b: 1 }] });
    expect(Object.assign({}, value.a[0])).not.toHaveProperty('evil');
    expect({}).not.toHaveProperty('evil');
  });
});

describe('parseAnswer', () => {
  const many = (count: number) => `[${Array(count).fill('[]').join()}]`;

  it.each([
    ['more than 500000 values', many(500_000)],
    ['nested deeper than 1000 levels', '['.repeat(1_001) + ']'.repeat(1_001)],
    ['a number beyond', '1e400'],
  ])('refuses as the answer of an agent: %s', (why, text) => {
    const call = { operation: 'SendMessage', params: {} } as const;
    for (const read of [
      () => parseAnswer(text),
      () => httpJsonClient.decodeEvent(call, text),
      () => jsonRpcClient.decodeEvent(call, text),
    ]) {
      expect(read).toThrow(why);
      expect(refusal(read).reason).toBe('INVALID_AGENT_RESPONSE');
    }
  });

  it('reads what a task may hold, and is undefined for what is not JSON', () => {
    expect(parseAnswer(many(499_999))).toHaveLength(499_999);
    expect(parseAnswer('{"__proto__":1,"a":null}')).toEqual({ a: null });
    expect(parseAnswer('<html>')).toBeUndefined();
  });
});

describe('jsonBody', () => {
  it('is none without text and without value', () => {
    expect(jsonBody({ text: '' })).toBeUndefined();
    expect(jsonBody({ value: undefined })).toBeUndefined();
    expect(jsonBody({ value: null })?.json()).toBeNull();
  });

  it('parses once', () => {
    const body = jsonBody({ text: '{"a":1}' });
    expect(body?.json()).toBe(body?.json());
  });

  it('fails once', () => {
    const body = jsonBody({ text: '{' });
    const failed = [1, 2, 3].map(() => {
      try {
        return body?.json();
      } catch (error) {
        return error;
      }
    });
    expect(failed[0]).toMatchObject({ reason: 'PARSE_ERROR' });
    expect(new Set(failed).size, 'each attempt would make an error of its own').toBe(1);
  });

  it('also bounds a value that a body parser made', () => {
    expect(jsonBody({ value: JSON.parse(nested(100)) as unknown })?.json()).toEqual(JSON.parse(nested(100)));
    expect(refusal(() => jsonBody({ value: JSON.parse(nested(101)) as unknown })?.json()).reason).toBe(
      'INVALID_REQUEST',
    );
  });
});
