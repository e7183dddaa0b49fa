import type { RecordStore, TaskName, TaskStore } from '@batonjs/store';
import { changeRecord, recordName } from './records.ts';
import type { StoreSource } from './store-source.ts';

/** How many versions of a queue are remembered: the latest. */
const mostVersions = 100;
/** The versions are read again after this many milliseconds. */
const knownForMs = 5_000;
/** How many tasks of a version are counted. */
const mostCounted = 100;
/** They are counted at most once in this many milliseconds. */
const lookEveryMs = 1_000;

/**
 * Which turns of other versions a process takes. `any`: turns are pinned to no version. `pinned`: a turn that began here
 * is continued by this version only. A function: the same, and turns of the versions for which it returns true are
 * continued here.
 */
export type Deploys = 'any' | 'pinned' | ((version: string) => boolean);

/** Tasks that wait for a process of a version. */
export interface Unserved {
  readonly version: string;
  /** At most 100. */
  readonly tasks: readonly TaskName[];
}

/** The latest versions that began pinned turns of a queue, the latest one last, as its store remembers them. */
export async function versionsOf(store: RecordStore, queue: string): Promise<readonly string[]> {
  return ((await store.getRecord(nameOf(queue)))?.value as readonly string[] | undefined) ?? [];
}

const nameOf = (queue: string): string => recordName('versions', queue);

type VersionSource = Omit<StoreSource, 'report'>;

/**
 * The version of a process whose turns are pinned to it, and the other ones that it takes. The version is remembered by
 * the store before a turn is: so that a task of a version that no process runs is found.
 */
export class Versions {
  readonly #queue: string;
  readonly #version: string;
  readonly #accepts: (version: string) => boolean;
  readonly #source: VersionSource;
  #isRemembered = false;
  #known: readonly string[] = [];
  #knownUntil = Number.NEGATIVE_INFINITY;
  /** The tasks that waited at the last look: those of a version that runs are gone at the next. */
  #waiting: ReadonlySet<string> = new Set();
  #logged = '';
  #looking: Promise<readonly Unserved[]> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    { queue, version, deploys }: { queue: string; version: string; deploys: Exclude<Deploys, 'any'> },
    source: VersionSource,
  ) {
    this.#queue = queue;
    this.#version = version;
    this.#accepts = (other) => other === version || (deploys !== 'pinned' && deploys(other));
    this.#source = source;
  }

  /** The store, whose claims name the versions, and which remembers this one before anything is written under it. */
  guard<Store extends TaskStore>(store: Store): Store {
    const commit: TaskStore['commit'] = (commit) =>
      this.#isRemembered || commit.turn?.version == null
        ? store.commit(commit)
        : this.#remember().then(() => store.commit(commit));
    const claim: TaskStore['claim'] = async (request) => {
      if (request.queue !== this.#queue) return store.claim(request);
      await this.#remember();
      return store.claim({ ...request, versions: (await this.#all()).filter(this.#accepts) });
    };
    return { ...store, commit, claim };
  }

  /** The tasks that wait for other versions, and waited at the last look too. Logs a change. */
  unserved(): Promise<readonly Unserved[]> {
    const now = this.#source.clock.monotonic();
    // Two looks right after each other would find every task that only just waits.
    if (this.#looking && now - this.#lookedAt < lookEveryMs) return this.#looking;
    this.#lookedAt = now;
    this.#looking = this.#look().catch((error: unknown) => {
      this.#looking = undefined;
      throw error;
    });
    return this.#looking;
  }

  async #look(): Promise<readonly Unserved[]> {
    const { logger } = this.#source;
    const waiting = new Set<string>();
    const unserved: Unserved[] = [];
    for (const { version, tasks } of await this.elsewhere()) {
      const old = tasks.filter((task) => this.#waiting.has(keyOf(task)));
      for (const task of tasks) waiting.add(keyOf(task));
      if (old.length > 0) unserved.push({ version, tasks: old });
    }
    this.#waiting = waiting;
    const text = unservedText(unserved) ?? '';
    if (text !== '' && text !== this.#logged) logger('warn', text, { queue: this.#queue });
    this.#logged = text;
    return unserved;
  }

  /** The tasks that only processes of other versions may take now, at most 100 of each. */
  async elsewhere(): Promise<readonly Unserved[]> {
    const { store } = this.#source;
    const others = (await this.#all()).filter((version) => !this.#accepts(version));
    const found: Unserved[] = [];
    for (const version of others) {
      const tasks = await store.pinned?.(this.#queue, version, mostCounted);
      if (tasks && tasks.length > 0) found.push({ version, tasks });
    }
    return found;
  }

  async #all(): Promise<readonly string[]> {
    const { store, clock } = this.#source;
    if (clock.monotonic() < this.#knownUntil) return this.#known;
    this.#known = [...new Set([...(await versionsOf(store, this.#queue)), this.#version])].slice(
      -mostVersions,
    );
    this.#knownUntil = clock.monotonic() + knownForMs;
    return this.#known;
  }

  async #remember(): Promise<void> {
    if (this.#isRemembered) return;
    await changeRecord<readonly string[]>(this.#source.store, nameOf(this.#queue), (known = []) =>
      known.includes(this.#version) ? undefined : [...known, this.#version].slice(-mostVersions),
    );
    this.#isRemembered = true;
  }
}

const keyOf = ({ scope, taskId }: TaskName): string => `${taskId}\0${scope}`;

/** A sentence about tasks that wait for versions that no process runs; undefined without any. */
export const unservedText = (unserved: readonly Unserved[]): string | undefined =>
  unserved.length === 0
    ? undefined
    : unserved
        .map(
          ({ version, tasks }) =>
            `${tasks.length} ${tasks.length === 1 ? 'task waits' : 'tasks wait'} for version "${version}"`,
        )
        .join(', ');
