import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { bundleSize } from './harness/bundle-size.ts';
import { round, Values } from './harness/measure.ts';

const kilobytes = 'KB, minified and compressed';

/** What a page with hooks loads anyway. */
const beside = ['react', '@batonjs/client'];

/**
 * What a browser loads for a client with all operations on both bindings, and for the hooks beside it. CI checks both in
 * the tests of their packages.
 */
export const benchmark: Benchmark = {
  number: 10,
  name: 'bundle',
  work: 'client bundle for the browser, minified and gzip',
  goals: [
    { ratio: 'baton, KB', atMost: 18.6 },
    { ratio: 'hooks, KB', atMost: 7 },
  ],
  growth: [{ ratio: 'baton, KB', atMost: 18.6 }],
  run,
};

async function run({ runs }: RunOptions): Promise<Measured> {
  const values = new Values();
  for (let n = 0; n < runs; n++) {
    values.add('baton', kilobytes, (await bundleSize('@batonjs/client')) / 1_000);
    values.add('react-hooks', kilobytes, (await bundleSize('@batonjs/react', beside)) / 1_000);
    values.add('official-sdk', kilobytes, (await bundleSize('@a2a-js/sdk/client')) / 1_000);
  }
  return {
    results: values.results,
    ratios: {
      'baton, KB': round(values.median('baton', kilobytes)),
      'hooks, KB': round(values.median('react-hooks', kilobytes)),
      'baton / official-sdk': values.ratio('baton', 'official-sdk', kilobytes),
    },
  };
}
