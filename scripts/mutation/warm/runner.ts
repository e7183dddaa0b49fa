/**
 * A test runner for Stryker that keeps the sources and tests in memory from one mutation to the next: starting vitest for
 * each takes longer than most tests do.
 */
import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Part } from '../part.ts';
import { sourcesByName } from '../sources.ts';
import { collect, end, leaveOut, runTest, type Test, tests } from './vitest.ts';

/** What the mutated sources read and write. */
interface Mutated {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: unknown;
}

interface MutantRun {
  readonly testFilter?: readonly string[];
  readonly hitLimit?: number;
  readonly activeMutant: { readonly id: string };
  readonly mutantActivation: 'runtime' | 'static';
}

const shared = globalThis as { __stryker__?: Mutated };
shared.__stryker__ ??= {};
const mutated = shared.__stryker__;
const testTimeoutMs = 30_000;
const [success, failed] = [0, 1];

class WarmRunner {
  static readonly inject = [] as const;
  #loaded: Promise<void> | undefined;

  capabilities() {
    // A module is imported once: mutations of what it does when it is imported need another process.
    return { reloadEnvironment: false };
  }

  init(): void {
    // What a mutation that failed a test left running may fail later: that says nothing about the next one.
    for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => {});
  }

  async dryRun() {
    await this.#load();
    const results = [];
    for (const test of tests) {
      mutated.currentTestId = idOf(test);
      const started = performance.now();
      let error = await failureOf(test);
      const result = { id: idOf(test), name: test.name, timeSpentMs: performance.now() - started };
      // A test that what it left behind fails would notice every mutation.
      if (error === undefined) error = await failureOf(test);
      mutated.currentTestId = undefined;
      results.push(
        error === undefined
          ? { ...result, status: success }
          : { ...result, status: failed, failureMessage: error },
      );
    }
    return { status: 'complete', tests: results, mutantCoverage: mutated.mutantCoverage };
  }

  async mutantRun({ testFilter, hitLimit, activeMutant, mutantActivation }: MutantRun) {
    if (mutantActivation === 'static') mutated.activeMutant = activeMutant.id;
    await this.#load();
    mutated.activeMutant = activeMutant.id;
    mutated.hitCount = hitLimit === undefined ? undefined : 0;
    mutated.hitLimit = hitLimit;
    const wanted = testFilter && new Set(testFilter);
    const known = new Set(tests.map(idOf));
    // Nothing would notice the mutation then.
    for (const id of wanted ?? []) if (!known.has(id)) throw new Error(`No test is called ${id} any more`);
    let nrOfTests = 0;
    for (const test of quickestFirst()) {
      if (wanted && !wanted.has(idOf(test))) continue;
      nrOfTests++;
      const failureMessage = await failureOf(test);
      if (hitLimit !== undefined && (mutated.hitCount ?? 0) > hitLimit)
        return { status: 'timeout', reason: `${test.name} passed the changed code too often` };
      if (failureMessage === undefined) continue;
      return { status: 'killed', killedBy: [idOf(test)], failureMessage, nrOfTests };
    }
    return { status: 'survived', nrOfTests };
  }

  dispose(): Promise<void> {
    return end();
  }

  #load(): Promise<void> {
    this.#loaded ??= load(process.cwd());
    return this.#loaded;
  }
}

const idOf = ({ file, name }: Test): string => `${file}#${name}`;

/** How long a test took when it passed last. */
const durations = new Map<Test, number>();

/** Most mutations fail many tests: the quicker the one that is run first, the sooner the next mutation has its turn. */
const quickestFirst = (): Test[] =>
  [...tests].sort((a, b) => (durations.get(a) ?? 0) - (durations.get(b) ?? 0));

async function failureOf(test: Test): Promise<string | undefined> {
  const started = performance.now();
  try {
    await runTest(test, testTimeoutMs);
  } catch (error) {
    return String(error);
  }
  durations.set(test, performance.now() - started);
  return undefined;
}

/** Imports the tests below this root, with the sources below it. */
async function load(root: string): Promise<void> {
  const sources = sourcesByName(root);
  const own = new URL('./vitest.ts', import.meta.url).href;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'vitest' && context.parentURL !== own) return { url: own, shortCircuit: true };
      const source = sources.get(specifier);
      return source ? { url: pathToFileURL(source).href, shortCircuit: true } : next(specifier, context);
    },
  });
  const { tests: patterns, leftOut } = JSON.parse(process.env.BATON_MUTATED_BY ?? '{"tests":[]}') as Part;
  leaveOut(leftOut === undefined ? undefined : new RegExp(leftOut));
  const wanted = patterns.filter((path) => !path.startsWith('!'));
  const exclude = patterns.filter((path) => path.startsWith('!')).map((path) => path.slice(1));
  for (const path of globSync(wanted, { cwd: root, exclude }).sort())
    await collect(path, () => import(pathToFileURL(resolve(root, path)).href));
}

/** Read by Stryker. */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'warm', injectableClass: WarmRunner }];
