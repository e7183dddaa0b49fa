import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import type { Part } from './part.ts';
import { type Report, type Result, resultOf, type Sample } from './result.ts';
import { startServer } from './stores/servers.ts';

export interface RunOptions {
  /** Only these places are mutated: `packages/x/src/y.ts:3:8-5:1`. All of the part if it is left out. */
  readonly lines?: readonly string[] | undefined;
  /** What the run before found is taken over where neither the mutated code nor a test that noticed has changed. */
  readonly changed: boolean;
  /** Only so many mutations are tried, chosen at random. All of them if it is left out. */
  readonly sample?: Sample | undefined;
  /** How many mutations are tried at once. */
  readonly concurrency: number;
}

/** Mutates one part and runs its tests. Takes minutes. `reports` is the folder for Stryker's own report. */
export async function run(
  name: string,
  part: Part,
  reports: string,
  { lines, changed, sample, concurrency }: RunOptions,
): Promise<Result> {
  const fileName = join(reports, `${name}.json`);
  mkdirSync(reports, { recursive: true });
  // Read by the processes that Stryker starts.
  process.env.BATON_MUTATED_BY = JSON.stringify(part);
  if (sample) process.env.BATON_SAMPLE = JSON.stringify(sample);
  // One server for the whole run: starting one for each mutation takes longer than most tests.
  const server = part.server && (await startServer(part.server));
  await new Stryker({
    mutate: [...(lines ?? part.mutate)],
    testRunner: part.warm ? 'warm' : 'vitest',
    plugins: [
      '@stryker-mutator/vitest-runner',
      new URL('./warm/runner.ts', import.meta.url).href,
      new URL('./sample-checker.ts', import.meta.url).href,
      new URL('./option-names.ts', import.meta.url).href,
    ],
    ignorers: ['option-names'],
    checkers: sample ? ['sample'] : [],
    testRunnerNodeArgs: part.warm ? ['--conditions=@batonjs/source'] : [],
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    concurrency,
    incremental: changed,
    // Not the report itself: Stryker writes both at the same time.
    incrementalFile: join(reports, `${name}.incremental.json`),
    // A run that hangs counts as noticed. On a busy machine slow runs must not count as hung.
    timeoutMS: 60_000,
    timeoutFactor: 5,
    dryRunTimeoutMinutes: 20,
    tempDirName: '.reports/mutation/sandbox',
    ignorePatterns: ['/docs', '/bench', '/apps', '**/dist', '.reports', '.data', '.turbo'],
    // Stryker would rewrite it with TypeScript's JavaScript API, which TypeScript 7 does not have. Nothing here reads it.
    tsconfigFile: 'none',
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName },
    allowConsoleColors: false,
  })
    .runMutationTest()
    .finally(() => server?.stop());
  return resultOf(
    JSON.parse(readFileSync(fileName, 'utf8')) as Report,
    new Date().toISOString().slice(0, 10),
    sample,
  );
}
