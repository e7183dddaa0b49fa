import type { BatchObservableCallback, Meter, MetricOptions } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { writeMetrics } from '../../src/metrics/exposition.ts';
import { Observed } from '../../src/metrics/gauges.ts';
import { makeInstruments, Registry } from '../../src/metrics/registry.ts';

/** A meter that notes what is made with it. */
function notingMeter() {
  const made: string[] = [];
  const note = (name: string, { unit, description, advice }: MetricOptions = {}) => {
    const bounds = advice?.explicitBucketBoundaries?.join(' ');
    made.push([name, unit, description, bounds].filter((part) => part !== undefined).join(' | '));
    return { add: () => {}, record: () => {} };
  };
  const meter = {
    createHistogram: note,
    createCounter: note,
    createUpDownCounter: note,
    createObservableGauge: note,
    addBatchObservableCallback: () => {},
  };
  return { meter: meter as unknown as Meter, made };
}

it('metrics have these names, units, words and bounds with OpenTelemetry: dashboards are made of them', async () => {
  const { meter, made } = notingMeter();
  makeInstruments([meter]);
  new Observed().register(meter);
  await expect(`${made.join('\n')}\n`).toMatchFileSnapshot('./instruments.txt');
});

it('a meter gets its gauges once, and all of them are read together', () => {
  const { meter, made } = notingMeter();
  const callbacks: [BatchObservableCallback, number][] = [];
  Object.assign(meter, {
    addBatchObservableCallback: (callback: BatchObservableCallback, gauges: object[]) =>
      callbacks.push([callback, gauges.length]),
  });
  const observed = new Observed();
  observed.register(meter);
  observed.register(meter);
  expect([callbacks.length, callbacks[0]?.[1]]).toEqual([1, made.length]);
});

it.each(['text', 'openmetrics'] as const)(
  'metrics are written as %s with their words, types, units and bounds',
  async (format) => {
    const registry = new Registry();
    new Observed().register(registry);
    const { createdTasks, failedTasks, followers, ...others } = makeInstruments([registry]);
    createdTasks.add(2);
    failedTasks.add(1, { 'error.type': 'NO_FUNDS' });
    followers.add(3);
    followers.add(-1);
    for (const instrument of Object.values(others))
      if ('record' in instrument) for (const seconds of [0.1, 1e9]) instrument.record(seconds);
    // Gauges that nothing has observed, and counters that nothing has counted, are left out.
    const text = writeMetrics(await registry.collect(), format);
    await expect(text).toMatchFileSnapshot(`./${format}.txt`);
  },
);
