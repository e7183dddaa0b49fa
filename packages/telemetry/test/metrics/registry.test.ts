import { describe, expect, it } from 'vitest';
import { formatFor, labelsOf, prometheusName, writeMetrics } from '../../src/metrics/exposition.ts';
import { Registry } from '../../src/metrics/registry.ts';

/** The lines of all metrics that have values. */
const linesOf = async (registry: Registry, format: 'text' | 'openmetrics' = 'text') =>
  writeMetrics(await registry.collect(), format)
    .trimEnd()
    .split('\n');

describe('a registry', () => {
  it('counts a value in the first bucket that it fits, and one above all bounds in the last', async () => {
    const registry = new Registry();
    const histogram = registry.createHistogram('h', { advice: { explicitBucketBoundaries: [1, 2] } });
    for (const value of [0, 1, 1.5, 2, 2.5, 100]) histogram.record(value);
    histogram.record(1, { a: 'x' });
    expect(await linesOf(registry)).toEqual([
      '# HELP h ',
      '# TYPE h histogram',
      'h_bucket{le="1"} 2',
      'h_bucket{le="2"} 4',
      'h_bucket{le="+Inf"} 6',
      'h_sum 107',
      'h_count 6',
      'h_bucket{a="x",le="1"} 1',
      'h_bucket{a="x",le="2"} 1',
      'h_bucket{a="x",le="+Inf"} 1',
      'h_sum{a="x"} 1',
      'h_count{a="x"} 1',
    ]);
  });

  it('has the sum of what goes up and down', async () => {
    const registry = new Registry();
    const upDown = registry.createUpDownCounter('u');
    for (const value of [3, -1]) upDown.add(value);
    expect(await linesOf(registry)).toEqual(['# HELP u ', '# TYPE u gauge', 'u 2']);
  });

  it('shows gauges as they were observed now, and no more those of the time before', async () => {
    const registry = new Registry();
    const gauge = registry.createObservableGauge('g');
    let queue = 'one';
    registry.addBatchObservableCallback(
      (result) => {
        result.observe(gauge, 1, { queue });
        // Not one of this registry.
        result.observe({ addCallback() {}, removeCallback() {} }, 4);
      },
      [gauge],
    );
    expect((await linesOf(registry)).slice(1)).toEqual(['# TYPE g gauge', 'g{queue="one"} 1']);
    queue = 'two';
    expect((await linesOf(registry)).slice(2)).toEqual(['g{queue="two"} 1']);
  });

  it('is looked at once for requests of one moment, and again for the next', async () => {
    const registry = new Registry();
    let looks = 0;
    registry.addBatchObservableCallback(async () => {
      looks += 1;
      await Promise.resolve();
    }, []);
    await Promise.all([registry.collect(), registry.collect()]);
    expect(looks).toBe(1);
    await registry.collect();
    expect(looks).toBe(2);
  });

  it('gives the same instrument for a name that it made before', async () => {
    const registry = new Registry();
    registry.createCounter('c').add(1);
    registry.createCounter('c').add(1);
    expect((await linesOf(registry)).at(-1)).toBe('c_total 2');
  });

  it('has 200 series of an instrument at most: the rest is one more, and known ones go on', async () => {
    const registry = new Registry();
    const counter = registry.createCounter('c');
    for (let n = 0; n < 205; n += 1) counter.add(1, { n });
    counter.add(1, { n: 0 });
    const lines = await linesOf(registry);
    expect(lines).toHaveLength(203);
    expect([lines[2], lines.at(-2), lines.at(-1)]).toEqual([
      'c_total{n="0"} 2',
      'c_total{n="199"} 1',
      'c_total{otel_metric_overflow="true"} 5',
    ]);
  });
});

describe('what is written', () => {
  it('has labels in the order of their names, without those that are undefined, and nothing that ends a line or a label', () => {
    expect(labelsOf({ 'b.c': 'x', a: 1, none: undefined })).toBe('a="1",b_c="x"');
    expect(labelsOf({ a: 'say "hi"\nC:\\' })).toBe('a="say \\"hi\\"\\nC:\\\\"');
    expect([labelsOf({}), labelsOf({ none: undefined })]).toEqual(['', '']);
  });

  it('has the unit of seconds in the name, and no other', () => {
    expect([prometheusName('baton.turn-x.age', 's'), prometheusName('a.b', '{turn}')]).toEqual([
      'baton_turn_x_age_seconds',
      'a_b',
    ]);
  });

  it.each([
    [1.5, '1.5'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
    [0, '0'],
  ])('has the number %d as %s', async (value, text) => {
    const registry = new Registry();
    registry.createUpDownCounter('g').add(value);
    expect((await linesOf(registry)).at(-1)).toBe(`g ${text}`);
  });

  it('escapes words of help as each format does', async () => {
    const registry = new Registry();
    registry.createUpDownCounter('g', { description: 'a "b"\n\\', unit: 's' }).add(1);
    expect(await linesOf(registry)).toEqual([
      '# HELP g_seconds a "b"\\n\\\\',
      '# TYPE g_seconds gauge',
      'g_seconds 1',
    ]);
    expect(await linesOf(registry, 'openmetrics')).toEqual([
      '# HELP g_seconds a \\"b\\"\\n\\\\',
      '# TYPE g_seconds gauge',
      '# UNIT g_seconds seconds',
      'g_seconds 1',
      '# EOF',
    ]);
  });

  it('is OpenMetrics for who asks for it, and text for all others', () => {
    expect(['application/openmetrics-text; version=1.0.0', 'text/plain', undefined].map(formatFor)).toEqual([
      'openmetrics',
      'text',
      'text',
    ]);
  });
});
