/**
 * As much of vitest as the tests of warm parts use. Tests are collected once, and run as often as is asked for, in the
 * process that imported them.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format } from 'node:util';

import { expect as expectOf, vi as viOf } from 'vitest';

export { expectTypeOf } from 'vitest';

// Tests may replace them.
const { setTimeout, clearTimeout } = globalThis;
// Some checks and the fake timers of vitest read its configuration, which nothing has set here.
const vitestState = globalThis as { __vitest_worker__?: unknown };
vitestState.__vitest_worker__ ??= { config: { fakeTimers: {} } };

type Run = (...args: never[]) => unknown;

interface Suite {
  readonly name: string;
  readonly parent: Suite | undefined;
  /** Run once, by the first test that needs them. */
  readonly before: Run[];
  readonly beforeEach: Run[];
  readonly afterEach: Run[];
}

export interface Test {
  /** The names of its suites and its own. */
  readonly name: string;
  readonly file: string;
  readonly suite: Suite;
  readonly run: () => unknown;
}

export const tests: Test[] = [];
/** How often `vi.waitFor` checks before it gives up: on a busy machine that takes longer than on an idle one. */
const checksAtMost = 1_000;
const checkEveryMs = 5;

const newSuite = (name: string, parent?: Suite): Suite => ({
  name,
  parent,
  before: [],
  beforeEach: [],
  afterEach: [],
});
let suite = newSuite('');
let file = '';
let leftOut: RegExp | undefined;
/** The file of the test that runs. */
let runningFile = '';

/** Tests of these names are not collected. */
export function leaveOut(names: RegExp | undefined): void {
  leftOut = names;
}

/** Collects the tests of a file by importing it. */
export async function collect(path: string, load: () => Promise<unknown>): Promise<void> {
  suite = newSuite('');
  file = path;
  await load();
}

function suitesOf(test: Test): Suite[] {
  const suites: Suite[] = [];
  for (let one: Suite | undefined = test.suite; one; one = one.parent) suites.unshift(one);
  return suites;
}

const finished = new AsyncLocalStorage<Run[]>();

/** Runs one test with the hooks of its suites. Rejects if it fails, or takes longer than `timeoutMs`. */
export async function runTest(test: Test, timeoutMs: number): Promise<void> {
  const cleanUps: Run[] = [];
  const suites = suitesOf(test);
  runningFile = test.file;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The test did not end')), timeoutMs);
  });
  try {
    await finished.run(cleanUps, async () => {
      for (const { before } of suites) for (const hook of before.splice(0)) await hook();
      for (const one of suites) for (const hook of one.beforeEach) await hook();
      await Promise.race([test.run(), late]);
    });
  } finally {
    clearTimeout(timer);
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
    for (const one of suites.reverse()) for (const hook of one.afterEach) await hook();
  }
}

const atTheEnd: Run[] = [];

/** Runs what the files want to be run after all of their tests. */
export async function end(): Promise<void> {
  for (const hook of atTheEnd.splice(0)) await hook();
}

export const onTestFinished = (cleanUp: Run): void => void finished.getStore()!.push(cleanUp);
export const beforeAll = (hook: Run): void => void suite.before.push(hook);
export const afterAll = (hook: Run): void => void atTheEnd.push(hook);
export const beforeEach = (hook: Run): void => void suite.beforeEach.push(hook);
export const afterEach = (hook: Run): void => void suite.afterEach.push(hook);

const each =
  (define: (name: string, run: Run) => void) => (rows: readonly unknown[]) => (name: string, run: Run) => {
    const areLists = rows.every(Array.isArray);
    for (const row of rows) {
      const values = Array.isArray(row) ? row : [row];
      const placeholders = name.match(/%[sdifjo]/g)?.length ?? 0;
      // Without the stack, which is another one in each process: a test has to have one name in all of them.
      const shown = values
        .slice(0, placeholders)
        .map((value) => (value instanceof Error ? String(value) : value));
      const title = withMembers(format(name, ...shown), row);
      define(title, () => run(...((areLists ? values : [row]) as never[])));
    }
  };

/** The name with members of a row: `$binding` stands for that of its member. */
const withMembers = (name: string, row: unknown): string =>
  name.replace(/\$(\w+)/g, (whole, key: string) =>
    typeof row === 'object' && row && key in row ? String(row[key as keyof typeof row]) : whole,
  );

function defineSuite(name: string, run: Run): void {
  const parent = suite;
  suite = newSuite(name, parent);
  run();
  suite = parent;
}

function defineTest(name: string, run: Run): void {
  const names: string[] = [name];
  for (let one: Suite | undefined = suite; one?.name; one = one.parent) names.unshift(one.name);
  const whole = names.join(' > ');
  if (!leftOut?.test(whole)) tests.push({ name: whole, file, suite, run });
}

const nothing = (): void => {};
export const describe = Object.assign(defineSuite, {
  each: each(defineSuite),
  skipIf: (isSkipped: unknown) => (isSkipped ? nothing : defineSuite),
});
export const it = Object.assign(defineTest, {
  each: each(defineTest),
  skipIf: (isSkipped: unknown) => (isSkipped ? nothing : defineTest),
  runIf: (isRun: unknown) => (isRun ? defineTest : nothing),
});

async function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await check();
    } catch (error) {
      if (n === checksAtMost) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, checkEveryMs));
  }
}

export const vi = { ...viOf, waitFor };

type Check = (...expected: never[]) => void;

/** The checks of `expect`, each of which is made until it holds. */
const polled = (read: () => unknown, isNot = false): unknown =>
  new Proxy(Object(polled), {
    get: (_, name) =>
      name === 'not'
        ? polled(read, !isNot)
        : (...expected: never[]) =>
            waitFor(async () => {
              const found = expectOf(await read());
              const checks = (isNot ? found.not : found) as unknown as Record<string | symbol, Check>;
              checks[name]!(...expected);
            }),
  });

/** Vitest compares files in a run of its own only. */
function matchesFile(text: unknown, path: string): void {
  expectOf(text).toBe(readFileSync(join(dirname(runningFile), path), 'utf8'));
}

/** The checks of a value, of which one is made here. */
const checksOf = (value: unknown, message?: string) =>
  new Proxy(expectOf(value, message), {
    get: (target, name) =>
      name === 'toMatchFileSnapshot' ? (path: string) => matchesFile(value, path) : Reflect.get(target, name),
  });

export const expect: typeof expectOf = Object.assign(checksOf, expectOf, {
  poll: (read: () => unknown) => polled(read),
}) as typeof expectOf;
