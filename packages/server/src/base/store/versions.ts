import { FACT_FORMAT, type Fact, headOf } from '@batonjs/lifecycle';
import { type StoredLog, StoreError, type TaskName, type TaskStore } from '@batonjs/store';
import type { Logger } from '../hooks/logger.ts';
import { newId } from '../system/new-id.ts';
import { type Clock, isoTime } from '../timing/clock.ts';

/** The scope of the logs in which a store remembers the versions of its queues. No caller has it. */
const versionsScope = 'baton:versions';

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
export interface Stranded {
  readonly version: string;
  /** At most 100. */
  readonly tasks: readonly TaskName[];
}

/** The versions that ever began pinned turns of a queue, the latest ones last, as its store remembers them. */
export async function versionsOf(store: TaskStore, queue: string): Promise<readonly string[]> {
  return namedIn(await store.load(versionsScope, queue));
}

const namedIn = (record: StoredLog | undefined): string[] =>
  (record?.facts ?? []).flatMap(({ fact }) => {
    const [part] = fact.type === 'message-received' ? fact.message.parts : [];
    return part && 'text' in part && typeof part.text === 'string' ? [part.text] : [];
  });

interface VersionSource {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

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
  #looking: Promise<readonly Stranded[]> | undefined;
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
  stranded(): Promise<readonly Stranded[]> {
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

  async #look(): Promise<readonly Stranded[]> {
    const { logger } = this.#source;
    const waiting = new Set<string>();
    const stranded: Stranded[] = [];
    for (const { version, tasks } of await this.elsewhere()) {
      const old = tasks.filter((task) => this.#waiting.has(keyOf(task)));
      for (const task of tasks) waiting.add(keyOf(task));
      if (old.length > 0) stranded.push({ version, tasks: old });
    }
    this.#waiting = waiting;
    const text = strandedText(stranded) ?? '';
    if (text !== '' && text !== this.#logged) logger('warn', text, { queue: this.#queue });
    this.#logged = text;
    return stranded;
  }

  /** The tasks that only processes of other versions may take now, at most 100 of each. */
  async elsewhere(): Promise<readonly Stranded[]> {
    const { store } = this.#source;
    const others = (await this.#all()).filter((version) => !this.#accepts(version));
    const found: Stranded[] = [];
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
    const { store, clock } = this.#source;
    while (!this.#isRemembered) {
      const record = await store.load(versionsScope, this.#queue);
      if (!namedIn(record).includes(this.#version)) {
        const fact = this.#fact(record);
        try {
          await store.commit({
            scope: versionsScope,
            taskId: this.#queue,
            commitId: newId(clock),
            expectedVersion: record?.version ?? 0,
            facts: [fact],
            head: headOf(record?.head, fact),
          });
        } catch (error) {
          if (StoreError.is(error, 'VERSION_CONFLICT')) continue;
          throw error;
        }
      }
      this.#isRemembered = true;
    }
  }

  #fact(record: StoredLog | undefined): Fact {
    const { clock } = this.#source;
    const now = isoTime(clock.now());
    const last = record?.facts.at(-1)?.fact.at ?? '';
    return {
      format: FACT_FORMAT,
      at: last > now ? last : now,
      type: 'message-received',
      message: {
        messageId: newId(clock),
        contextId: 'versions',
        role: 'ROLE_AGENT',
        parts: [{ text: this.#version }],
      },
    };
  }
}

const keyOf = ({ scope, taskId }: TaskName): string => `${taskId}\0${scope}`;

/** A sentence about tasks that wait for versions that no process runs; undefined without any. */
export const strandedText = (stranded: readonly Stranded[]): string | undefined =>
  stranded.length === 0
    ? undefined
    : stranded
        .map(
          ({ version, tasks }) =>
            `${tasks.length} ${tasks.length === 1 ? 'task waits' : 'tasks wait'} for version "${version}"`,
        )
        .join(', ');
