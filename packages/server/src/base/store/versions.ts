import { type RecordStore, StoreError, type TaskName, type TaskStore } from '@batonjs/store';
import type { Clock } from '../timing/clock.ts';
import { answerInTime } from '../timing/within-deadline.ts';
import type { Peers } from './peers.ts';
import { changeRecord, type QueueOwners, recordName, type StoreSource } from './records.ts';

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
export const versionsOf = async (store: RecordStore, queue: string): Promise<readonly string[]> =>
  ((await store.getRecord(nameOf(queue)))?.value as readonly string[] | undefined) ?? [];

const nameOf = (queue: string): string => recordName('versions', queue);

export type Versions = ReturnType<typeof pinnedVersions>;

/**
 * The version of a process whose turns are pinned to it, and the other ones that it takes. The version is remembered by
 * the store before a turn is: so that a task of a version that no process runs is found.
 */
export function pinnedVersions(
  { queue, version, deploys }: { queue: string; version: string; deploys: Exclude<Deploys, 'any'> },
  { store, clock, logger }: Omit<StoreSource, 'report'>,
) {
  const accepts = (other: string) => other === version || (deploys !== 'pinned' && deploys(other));
  let isRemembered = false;
  let known: readonly string[] = [];
  let knownUntil = Number.NEGATIVE_INFINITY;
  /** The tasks that waited at the last look: those of a version that runs are gone at the next. */
  let waiting: ReadonlySet<string> = new Set();
  let logged = '';
  let looking: Promise<readonly Unserved[]> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  /** The store, whose claims name the versions, and which remembers this one before anything is written under it. */
  function guard<Store extends TaskStore>(store: Store): Store {
    const commit: TaskStore['commit'] = (commit) =>
      isRemembered || commit.turn?.version == null
        ? store.commit(commit)
        : remember().then(() => store.commit(commit));
    const claim: TaskStore['claim'] = async (request) => {
      if (request.queue !== queue) return store.claim(request);
      await remember();
      return store.claim({ ...request, versions: (await all()).filter(accepts) });
    };
    return { ...store, commit, claim };
  }

  /** The tasks that wait for other versions, and waited at the last look too. Logs a change. */
  function unserved(): Promise<readonly Unserved[]> {
    const now = clock.monotonic();
    // Two looks right after each other would find every task that only just waits.
    if (looking && now - lookedAt < lookEveryMs) return looking;
    lookedAt = now;
    looking = look().catch((error: unknown) => {
      looking = undefined;
      throw error;
    });
    return looking;
  }

  async function look(): Promise<readonly Unserved[]> {
    const before = waiting;
    const found = await elsewhere();
    waiting = new Set(found.flatMap(({ tasks }) => tasks.map(keyOf)));
    const left = found.map(({ version, tasks }) => ({
      version,
      tasks: tasks.filter((task) => before.has(keyOf(task))),
    }));
    const unserved = left.filter(({ tasks }) => tasks.length > 0);
    const text = unservedText(unserved) ?? '';
    if (text !== '' && text !== logged) logger('warn', text, { queue });
    logged = text;
    return unserved;
  }

  /** The tasks that only processes of other versions may take now, at most 100 of each. */
  async function elsewhere(): Promise<readonly Unserved[]> {
    const found: Unserved[] = [];
    for (const other of await all()) {
      const tasks = accepts(other) ? undefined : await store.pinned?.(queue, other, mostCounted);
      if (tasks && tasks.length > 0) found.push({ version: other, tasks });
    }
    return found;
  }

  async function all(): Promise<readonly string[]> {
    if (clock.monotonic() < knownUntil) return known;
    known = [...new Set([...(await versionsOf(store, queue)), version])].slice(-mostVersions);
    knownUntil = clock.monotonic() + knownForMs;
    return known;
  }

  async function remember(): Promise<void> {
    if (isRemembered) return;
    await changeRecord<readonly string[]>(store, nameOf(queue), (known = []) =>
      known.includes(version) ? undefined : [...known, version].slice(-mostVersions),
    );
    isRemembered = true;
  }

  return { guard, unserved, elsewhere };
}

const keyOf = ({ scope, taskId }: TaskName): string => `${taskId}\0${scope}`;

/** A sentence about tasks that wait for versions that no process runs; undefined without any. */
const unservedText = (unserved: readonly Unserved[]): string | undefined =>
  unserved.length === 0
    ? undefined
    : unserved
        .map(
          ({ version, tasks }) =>
            `${tasks.length} ${tasks.length === 1 ? 'task waits' : 'tasks wait'} for version "${version}"`,
        )
        .join(', ');

/** Whether a server can do its work, for its operators: the message may hold names of files and hosts. */
export type Readiness =
  | {
      readonly isReady: true;
      /** What an operator should look after: tasks that wait for a version that no process runs, options that differ. */
      readonly warning?: string;
    }
  | {
      readonly isReady: false;
      /**
       * `closing`: the server closes. `failing`: the store does not answer, or fails for an unnamed reason. `refused`: the
       * tasks of its name are those of another agent, or the store cannot be used as it is, such as one of another release.
       */
      readonly reason: NonNullable<StoreError['trouble']> | 'closing' | 'failing' | 'refused';
      readonly message: string;
    };

/** The parts of a server that its readiness depends on. */
export interface ReadinessSource {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly isOpen: () => boolean;
  readonly owners: Pick<QueueOwners, 'refusal'>;
  readonly versions: Pick<Versions, 'unserved'> | undefined;
  readonly peers: Pick<Peers, 'differences'> | undefined;
}

/** The store is probed at most once in this many milliseconds. */
const probeEveryMs = 1_000;

const ready: Readiness = { isReady: true };
const closing: Readiness = { isReady: false, reason: 'closing', message: 'The server is closing' };

/** Returns a function that checks whether the server can do its work, by its store, and by `reach`, which asks for files. */
export function createReadiness(source: ReadinessSource, reach?: () => Promise<unknown>) {
  const { store, clock, isOpen, owners, versions, peers } = source;
  let known = ready;
  let knownUntil = Number.NEGATIVE_INFINITY;
  let probing: Promise<void> | undefined;

  async function probe(): Promise<void> {
    try {
      await (store.probe ? store.probe() : store.ping());
      if (reach) await answerInTime('files.store', reach)();
      // A newer release may have brought the data to a layout that this one does not read.
      await store.identity();
      const message = await owners.refusal();
      const unserved = versions && unservedText(await versions.unserved());
      const warning = [unserved, await peers?.differences(probeEveryMs)].filter(Boolean).join('; ');
      known =
        message === undefined
          ? warning
            ? { isReady: true, warning }
            : ready
          : { isReady: false, reason: 'refused', message };
    } catch (error) {
      const usual = StoreError.is(error, 'UNUSABLE') ? 'refused' : 'failing';
      const { trouble: reason = usual, message } = error as Error & {
        trouble?: NonNullable<StoreError['trouble']>;
      };
      known = { isReady: false, reason, message: String(message) };
    }
    knownUntil = clock.monotonic() + probeEveryMs;
    probing = undefined;
  }

  return async (): Promise<Readiness> => {
    if (!isOpen()) return closing;
    if (!probing && clock.monotonic() >= knownUntil) probing = probe();
    await probing;
    return isOpen() ? known : closing;
  };
}
