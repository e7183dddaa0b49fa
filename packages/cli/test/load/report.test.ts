import { describe, expect, it } from 'vitest';
import { toMix } from '../../src/load/load.ts';
import { rowsOf, tableOf } from '../../src/load/report.ts';

const measured = (latencies: readonly number[], more: object = {}) => ({
  latencies: [...latencies],
  firsts: [],
  errors: new Map<string, number>(),
  ...more,
});

describe('the report of a run', () => {
  it('has rates, the latencies that so many were below, and errors by their reason', () => {
    const latencies = Array.from({ length: 200 }, (_, n) => 200 - n);
    const errors = new Map([['UNAVAILABLE', 3]]);
    const kinds = new Map([
      ['send', measured(latencies, { errors })],
      ['stream', measured([20.04, 10.06], { firsts: [5] })],
      ['get', measured([])],
    ] as const);
    const none = { perSecond: 0, p50: 0, p95: 0, p99: 0, max: 0, errors: {} };
    expect(rowsOf({ ms: 30_000, kinds })).toEqual([
      {
        operation: 'send',
        calls: 200,
        perSecond: 6.7,
        p50: 100,
        p95: 190,
        p99: 198,
        max: 200,
        errors: { UNAVAILABLE: 3 },
      },
      { operation: 'stream', calls: 2, perSecond: 0.1, p50: 10.1, p95: 20, p99: 20, max: 20, errors: {} },
      { ...none, operation: 'stream first event', calls: 1, p50: 5, p95: 5, p99: 5, max: 5 },
      { ...none, operation: 'get', calls: 0 },
    ]);
  });

  it('is a table, whose numbers stand under each other', () => {
    const kinds = new Map([
      ['stream', measured([1_234.5], { firsts: [7] })],
      [
        'get',
        measured([1], {
          errors: new Map([
            ['UNAVAILABLE', 12],
            ['ECONNRESET', 1],
          ]),
        }),
      ],
    ] as const);
    expect(tableOf(rowsOf({ ms: 1_000, kinds }))).toBe(
      [
        'operation           calls  calls/s  p50 ms  p95 ms  p99 ms  max ms  errors',
        'stream                  1        1  1234.5  1234.5  1234.5  1234.5',
        'stream first event      1        1       7       7       7       7',
        'get                     1        1       1       1       1       1  12 UNAVAILABLE, 1 ECONNRESET',
        '',
      ].join('\n'),
    );
    expect(tableOf([])).toMatch(/^operation {2}calls .*errors\n$/);
  });
});

describe('a mix', () => {
  it('is shares of kinds', () => {
    expect(toMix('send=8, get=1,list=0')).toEqual({ send: 8, get: 1, list: 0 });
    expect(toMix('send=9999')).toEqual({ send: 9_999 });
  });

  it.each([
    'xsend=1',
    '9send=1',
    'send=1x',
    'send=12345',
    'send=1,get',
    'send=1,other=1',
    'other=1,send=1',
    'get=0',
    '',
  ])('is none of %j', (text) => {
    expect(() => toMix(text)).toThrow(
      'A mix is shares of send, stream, async, get, list, such as send=8,get=1.',
    );
  });
});
