import type { Committed, Lease, Row, StoredLog, TaskStore } from '@batonjs/store';
import { admit, claimable, cutPage, diverged, factsInOrder, granted } from '@batonjs/store';

/** A database that keeps texts under keys and replaces one only if nobody else did meanwhile. */
export interface KeyValue {
  get(key: string): Promise<{ text: string; revision: number } | undefined>;
  /** Writes, or deletes without a text. Resolves `false`, changing nothing, if the revision is not this one (0: nothing there). */
  swap(key: string, revision: number, text: string | undefined): Promise<boolean>;
  keys(): Promise<string[]>;
  /** Calls `hear` after each change, by anybody. */
  onChange(hear: (key: string) => void): () => void;
}

/** What is kept under one key. */
interface Log {
  scope: string;
  taskId: string;
  row: Row;
  facts: StoredLog['facts'];
  snapshot?: StoredLog['snapshot'];
  once: [key: string, position: number][];
}

type Change<T> = { log?: Log; result: T };

/** Where the id of the database is kept: no task has this key. */
const identityKey = 'identity';

const keyOf = ({ scope, taskId }: { scope: string; taskId: string }) => JSON.stringify([scope, taskId]);

/** Tasks in a key-value database: one value per task. */
export function keyValueStore(database: KeyValue, now: () => number = Date.now): TaskStore {
  async function read(key: string): Promise<Log | undefined> {
    const kept = await database.get(key);
    return kept && JSON.parse(kept.text);
  }

  /** Reads, decides and writes as if nobody else were there: whoever loses a race decides again. */
  async function change<T>(key: string, decide: (log: Log | undefined) => Change<T>): Promise<T> {
    for (;;) {
      const kept = await database.get(key);
      const { log, result } = decide(kept && JSON.parse(kept.text));
      if (!log || (await database.swap(key, kept?.revision ?? 0, JSON.stringify(log)))) return result;
    }
  }

  async function all(): Promise<Log[]> {
    const keys = (await database.keys()).filter((key) => key !== identityKey);
    const logs = await Promise.all(keys.map(read));
    return logs.filter((log) => log !== undefined);
  }

  return {
    commit: (commit) =>
      change<Committed>(keyOf(commit), (log) => {
        const { scope, taskId, commitId, once } = commit;
        const counted = log?.once.find(([key]) => key === once);
        if (counted) return { result: { version: counted[1], repeated: true } };
        const row = admit(log?.row, commit, now());
        const facts = [...(log?.facts ?? [])];
        for (const fact of factsInOrder(commit, facts.at(-1)?.fact.at))
          facts.push({ version: facts.length + 1, commitId, fact });
        const keys = [...(log?.once ?? [])];
        if (once !== undefined) keys.push([once, (log?.row.version ?? 0) + 1]);
        const snapshot = commit.snapshot ?? log?.snapshot;
        return {
          log: { scope, taskId, row, facts, snapshot, once: keys },
          result: { version: row.version, lease: granted(row, commit) },
        };
      }),

    async load(scope, taskId) {
      const log = await read(keyOf({ scope, taskId }));
      if (!log) return undefined;
      const { row, snapshot, facts } = log;
      return { head: row.head, version: row.version, snapshot, facts: facts.slice(snapshot?.version ?? 0) };
    },

    async readFacts(scope, taskId, after, limit, lastCommitId) {
      const facts = (await read(keyOf({ scope, taskId })))?.facts ?? [];
      if (lastCommitId !== undefined && facts[after - 1]?.commitId !== lastCommitId)
        throw diverged(taskId, after);
      return facts.slice(after, after + limit);
    },

    async list(scope, query) {
      const { contextId, state, statusSince = '', after, answered } = query;
      const tasks = (await all())
        .filter((log) => log.scope === scope)
        .map(({ taskId, row: { head }, facts }) => ({ taskId, head, fact: facts[head.statusVersion - 1]! }))
        .filter(({ head }) => answered || head.state !== undefined)
        .filter(({ head }) => contextId === undefined || head.contextId === contextId)
        .filter(({ head }) => (state === undefined || head.state === state) && head.statusAt >= statusSince)
        .sort((a, b) => (isBefore(a.head.statusAt, a.taskId, b.head.statusAt, b.taskId) ? 1 : -1));
      const rest = tasks.filter(
        ({ head, taskId }) => !after || isBefore(head.statusAt, taskId, after.statusAt, after.taskId),
      );
      return cutPage(rest, query, tasks.length);
    },

    // A bell may ring too often: whoever watches a queue is notified of every change.
    subscribe: async (topic, notify) =>
      database.onChange((key) => {
        if ('queue' in topic || key === keyOf(topic)) notify();
      }),

    async claim(request) {
      const leases: Lease[] = [];
      const causeOf = ({ taskId, row }: Log) =>
        request.taskId === undefined || request.taskId === taskId
          ? claimable(row, request, now())
          : undefined;
      const candidates = (await all()).filter(causeOf);
      candidates.sort((a, b) => Number(causeOf(b) === 'held') - Number(causeOf(a) === 'held'));
      for (const candidate of candidates) {
        if (leases.length === request.limit) break;
        const lease = await change<Lease | undefined>(keyOf(candidate), (log) => {
          const cause = log && causeOf(log);
          if (!cause) return { result: undefined };
          const { holder, ttlMs, queue } = request;
          const fence = cause === 'held' ? log.row.fence : log.row.fence + 1;
          const row = { ...log.row, wanted: false, fence, holder, leaseUntil: now() + ttlMs };
          return {
            log: { ...log, row },
            result: { scope: log.scope, taskId: log.taskId, queue, holder, fence, cause },
          };
        });
        if (lease) leases.push(lease);
      }
      return leases;
    },

    async renew(leases, ttlMs) {
      const held = leases.map((lease) =>
        change(keyOf(lease), (log) => {
          if (log?.row.holder !== lease.holder || log.row.fence !== lease.fence) return { result: [] };
          return { log: { ...log, row: { ...log.row, leaseUntil: now() + ttlMs } }, result: [lease] };
        }),
      );
      return (await Promise.all(held)).flat();
    },

    async waiting(queue) {
      return (await all()).filter(({ row }) => row.queue === queue && row.wanted && row.holder === undefined)
        .length;
    },

    async prune({ closedBefore, limit }) {
      const old = (await all()).filter(({ row: { head } }) => head.closed && head.statusAt < closedBefore);
      const deleted = old.slice(0, limit).map(async (log) => {
        const kept = await database.get(keyOf(log));
        return kept !== undefined && database.swap(keyOf(log), kept.revision, undefined);
      });
      return (await Promise.all(deleted)).filter(Boolean).length;
    },

    async identity() {
      await database.swap(identityKey, 0, crypto.randomUUID());
      return (await database.get(identityKey))!.text;
    },

    close: async () => {},
  };
}

/** Whether the first place comes before the second: older, and of equals the smaller id. */
const isBefore = (at: string, taskId: string, otherAt: string, otherId: string): boolean =>
  at === otherAt ? taskId < otherId : at < otherAt;
