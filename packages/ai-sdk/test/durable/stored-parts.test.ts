import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import {
  readParts,
  readResult,
  storedParts,
  storedResult,
  toBase64,
} from '../../src/durable/recorded-model.ts';

type Part = LanguageModelV4StreamPart;

const delta = (id: string, text: string, more: object = {}): Part => ({
  type: 'text-delta',
  id,
  delta: text,
  ...more,
});
const providerMetadata = { of: { a: 1 } };
const bytes = new Uint8Array([104, 105]);
const fileOf = (type: string, data: object) => ({ type, mediaType: 'text/plain', data }) as unknown as Part;

describe('the stored parts of a stream', () => {
  it('have no parts that only the connection needs', () => {
    const end: Part = { type: 'text-end', id: '1' };
    expect(storedParts([{ type: 'raw', rawValue: 1 }, { type: 'ping' } as never, end])).toEqual([end]);
  });

  it.each<[string, Part[], Part[]]>([
    ['pieces of one text', [delta('1', 'a'), delta('1', 'b'), delta('1', 'c')], [delta('1', 'abc')]],
    ['pieces of two texts', [delta('1', 'a'), delta('2', 'b')], [delta('1', 'a'), delta('2', 'b')]],
    [
      'pieces of two kinds',
      [delta('1', 'a'), { ...delta('1', 'b'), type: 'reasoning-delta' } as Part],
      [delta('1', 'a'), { ...delta('1', 'b'), type: 'reasoning-delta' } as Part],
    ],
    [
      'a piece after one with metadata',
      [delta('1', 'a', { providerMetadata }), delta('1', 'b')],
      [delta('1', 'a', { providerMetadata }), delta('1', 'b')],
    ],
    [
      'a piece with metadata after another',
      [delta('1', 'a'), delta('1', 'b', { providerMetadata })],
      [delta('1', 'a'), delta('1', 'b', { providerMetadata })],
    ],
    [
      'two parts of a kind without pieces',
      [
        { type: 'text-start', id: '1' },
        { type: 'text-start', id: '1' },
      ],
      [
        { type: 'text-start', id: '1' },
        { type: 'text-start', id: '1' },
      ],
    ],
    [
      'pieces that a ping parts',
      [delta('1', 'a'), { type: 'ping' } as never, delta('1', 'b')],
      [delta('1', 'ab')],
    ],
  ])('join %s, or not', (_what, parts, stored) => {
    expect(storedParts(parts)).toEqual(stored);
  });

  it.each(['file', 'reasoning-file'])('have the bytes of a %s as base64', (type) => {
    expect(storedParts([fileOf(type, { type: 'data', data: bytes })])).toEqual([
      fileOf(type, { type: 'data', data: 'aGk=' }),
    ]);
    const text = fileOf(type, { type: 'data', data: 'aGk=' });
    expect(storedParts([text])).toEqual([text]);
  });
});

describe('parts after JSON', () => {
  const again = (parts: readonly Part[]) => readParts(JSON.parse(JSON.stringify(storedParts(parts))));

  it.each(['file', 'reasoning-file'])('have the URL of a %s again', (type) => {
    const parts = [fileOf(type, { type: 'url', url: new URL('https://a.example/b') })];
    expect(again(parts)).toStrictEqual(parts);
    expect((again(parts)[0] as unknown as { data: { url: unknown } }).data.url).toBeInstanceOf(URL);
  });

  it('have the date of the response again', () => {
    const timestamp = new Date('2026-01-02T03:04:05.678Z');
    const parts: Part[] = [
      { type: 'response-metadata', id: 'r', timestamp, modelId: 'm' },
      { type: 'response-metadata', id: 's' },
      delta('1', 'a'),
      fileOf('file', { type: 'data', data: 'aGk=' }),
    ];
    expect(again(parts)).toStrictEqual(parts);
  });
});

describe('a whole result', () => {
  const result = (more: object): LanguageModelV4GenerateResult =>
    ({ content: [], finishReason: { unified: 'stop' }, warnings: [], usage: {}, ...more }) as never;
  const again = (given: LanguageModelV4GenerateResult) =>
    readResult(JSON.parse(JSON.stringify(storedResult(given))));

  it('is the same after JSON, without what was on the wire', () => {
    const timestamp = new Date('2026-01-02T03:04:05.678Z');
    const url = new URL('https://a.example/b');
    const content = [
      { type: 'text', text: 'words' },
      { type: 'file', mediaType: 'text/plain', data: { type: 'url', url } },
    ];
    expect(
      again(
        result({
          content: [
            ...content,
            { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: bytes } },
          ],
          request: { body: 'secret' },
          response: { id: 'r', timestamp, modelId: 'm', headers: { key: 'secret' }, body: 'secret' },
        }),
      ),
    ).toStrictEqual(
      result({
        content: [
          ...content,
          { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: 'aGk=' } },
        ],
        response: { id: 'r', timestamp, modelId: 'm' },
      }),
    );
  });

  it('needs no response, and no date in it', () => {
    expect(again(result({}))).toStrictEqual(result({}));
    expect(again(result({ response: { id: 'r' } }))).toStrictEqual(result({ response: { id: 'r' } }));
  });
});

it.each([0, 1, 8_191, 8_192, 8_193, 200_000])('%s bytes are base64', (length) => {
  const all = Uint8Array.from({ length }, (_, n) => n % 256);
  expect(toBase64(all)).toBe(Buffer.from(all).toString('base64'));
});
