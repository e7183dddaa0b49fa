import type { TaskStore } from '@batonjs/store';

/** A fresh store for one check. */
export interface Opened<S extends TaskStore = TaskStore> {
  readonly store: S;
  /** Another handle on the same data, as a second process would have. Left out: the same store once more. */
  readonly second?: S;
  /** Closes `store` and opens its data again, as a restarted process would. Left out: nothing is restarted. */
  readonly reopen?: () => Promise<S>;
  /** The store's own clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Moves that clock on. Left out: the suite waits until the store's own leases show that time has passed. */
  readonly advance?: (ms: number) => void | Promise<void>;
  /** Deletes what was opened, after the stores were closed. */
  readonly dispose?: () => void | Promise<void>;
}

/** Options of the suite. */
export interface CheckOptions {
  /** Random cases per property. Default 30. */
  readonly runs?: number;
  /** Seed of the random cases. Default: a new one for every run; a failure prints it. */
  readonly seed?: number;
  /** How long to wait for a notification or a lease that must come, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

/** The store and the options that a check runs with. */
export interface Bench<S extends TaskStore = TaskStore> extends Required<CheckOptions> {
  readonly store: S;
  readonly second: S;
  readonly reopen: () => Promise<S>;
  readonly now: () => number;
  readonly advance?: (ms: number) => void | Promise<void>;
}

/** One sentence about the port, and the function that checks it. */
export interface Check<S extends TaskStore = TaskStore> {
  readonly section: string;
  readonly title: string;
  readonly run: (bench: Bench<S>) => Promise<void>;
}

/** Checks about one thing, by title. */
export function section<S extends TaskStore = TaskStore>(
  name: string,
  checks: Readonly<Record<string, Check<S>['run']>>,
): Check<S>[] {
  return Object.entries(checks).map(([title, run]) => ({ section: name, title, run }));
}

/** Runs one check on a store of its own and closes it again. Rejects if the check fails. */
export async function runCheck<S extends TaskStore>(
  check: Check<S>,
  open: () => Opened<S> | Promise<Opened<S>>,
  { runs = 30, seed = Math.floor(Math.random() * 2 ** 31), timeoutMs = 5_000 }: CheckOptions = {},
): Promise<void> {
  const opened = await open();
  const handles = new Set([opened.store, opened.second ?? opened.store]);
  const bench: Bench<S> = {
    runs,
    seed,
    timeoutMs,
    store: opened.store,
    second: opened.second ?? opened.store,
    now: opened.now ?? Date.now,
    advance: opened.advance,
    async reopen() {
      if (!opened.reopen) return opened.store;
      handles.delete(opened.store);
      const again = await opened.reopen();
      handles.add(again);
      return again;
    },
  };
  try {
    await check.run(bench);
  } catch (error) {
    if (error instanceof Error) error.message = visible(error.message);
    throw error;
  } finally {
    for (const handle of handles) await handle.close();
    await opened.dispose?.();
  }
}

/** The text with every character escaped that cannot be seen or looks like another one; ids may hold any. */
const visible = (text: string): string =>
  text.replaceAll(
    /[^\n\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
