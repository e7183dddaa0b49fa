import type { Committed, Lease, Row, StoredLog, TaskStore } from '@batonjs/store';
import * as rules from '@batonjs/store';

/** A database that keeps texts under keys and can replace a text only if its revision is still the same. */
export interface KeyValue {
  get(key: string): Promise<{ text: string; revision: number } | undefined>;
  /** Writes the text, or deletes the key without one. Resolves `false` if the revision has changed (0: no such key). */
  swap(key: string, revision: number, text: string | undefined): Promise<boolean>;
  keys(): Promise<string[]>;
  /** Calls `listener` after each change by any client, until the returned function is called. */
  onChange(listener: (key: string) => void): () => void;
}

/** The value under one key: a task. */
interface Log {
  scope: string;
  taskId: string;
  row: Row;
  facts: StoredLog['facts'];
  snapshot?: StoredLog['snapshot'];
  once: [key: string, position: number][];
  /** Since when it waits for a turn, in milliseconds since 1970; absent if it does not. */
  waitingSince?: number;
}

type Change<T> = { log?: Log; result: T };

/** The key of the database's own id. No task has it. */
const identityKey = 'identity';

const keyOf = ({ scope, taskId }: { scope: string; taskId: string }) => JSON.stringify([scope, taskId]);

/** Tasks in a key-value database: one value per task. */
export function keyValueStore(database: KeyValue, now: () => number = Date.now): TaskStore {
  async function read(key: string): Promise<Log | undefined> {
    const kept = await database.get(key);
    return kept && JSON.parse(kept.text);
  }

  /** Reads, decides and writes. If another process wrote in between, it reads and decides again. */
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

  const waiting = async (queue: string) =>
    (await all()).filter(({ row }) => row.queue === queue && row.wanted && row.holder === undefined).length;

  return {
    async commit(commit) {
      // Other keys are not in the same step: a moment ago so many waited.
      const others = commit.turn?.waitingAtMost === undefined ? 0 : await waiting(commit.turn.queue);
      return change<Committed>(keyOf(commit), (log) => {
        const { scope, taskId, commitId, once } = commit;
        const counted = log?.once.find(([key]) => key === once);
        if (counted) return { result: { version: counted[1], repeated: true } };
        const row = rules.admit(log?.row, commit, now());
        rules.mustHaveRoom(row, commit, () => others);
        const facts = [...(log?.facts ?? [])];
        for (const fact of rules.factsInOrder(commit, facts.at(-1)?.fact.at))
          facts.push({ version: facts.length + 1, commitId, fact });
        const keys = [...(log?.once ?? [])];
        if (once !== undefined) keys.push([once, (log?.row.version ?? 0) + 1]);
        const snapshot = commit.snapshot ?? log?.snapshot;
        const waitingSince =
          row.wanted && row.holder === undefined ? (log?.waitingSince ?? now()) : undefined;
        return {
          log: { scope, taskId, row, facts, snapshot, once: keys, waitingSince },
          result: { version: row.version, lease: rules.granted(row, commit) },
        };
      });
    },

    async load(scope, taskId) {
      const log = await read(keyOf({ scope, taskId }));
      if (!log) return undefined;
      const { row, snapshot, facts } = log;
      return { head: row.head, version: row.version, snapshot, facts: facts.slice(snapshot?.version ?? 0) };
    },

    async readFacts(scope, taskId, after, limit, lastCommitId) {
      const facts = (await read(keyOf({ scope, taskId })))?.facts ?? [];
      if (lastCommitId !== undefined && facts[after - 1]?.commitId !== lastCommitId)
        throw rules.diverged(taskId, after);
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
      return rules.cutPage(rest, query, tasks.length);
    },

    // Notifications may be too many: subscribers of a queue are notified of every change.
    subscribe: async (topic, notify) =>
      database.onChange((key) => {
        if ('queue' in topic || key === keyOf(topic)) rules.callSubscriber(notify);
      }),

    async claim(request) {
      const { holder, queue, limit } = request;
      const candidates = (await all())
        .filter(({ taskId }) => (request.taskId ?? taskId) === taskId)
        .filter(({ scope }) => !request.taskId || (request.scope ?? scope) === scope)
        .filter(({ row }) => rules.claimed(row, request, now()));
      // Leases that the token holds already come first, then the tasks that have been ready longest.
      const place = ({ row, waitingSince = 0 }: Log) =>
        row.holder === holder
          ? 0
          : (row.leaseUntil ?? (row.wanted ? waitingSince : Date.parse(row.head.dueAt!)));
      candidates.sort((a, b) => place(a) - place(b));
      const leases: Lease[] = [];
      for (const { scope, taskId } of candidates) {
        if (leases.length === limit) break;
        const lease = await change<Lease | undefined>(keyOf({ scope, taskId }), (log) => {
          const claim = log && rules.claimed(log.row, request, now());
          if (!claim) return { result: undefined };
          const { row, cause } = claim;
          const lease = { scope, taskId, queue, holder, fence: row.fence, cause };
          return { log: { ...log, row, waitingSince: undefined }, result: lease };
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

    waiting,

    async prune({ closedBefore, limit }) {
      const old = (await all()).filter(({ row: { head } }) => head.closed && head.statusAt < closedBefore);
      const deleted = old.slice(0, limit).map(async (log) => {
        const kept = await database.get(keyOf(log));
        return kept !== undefined && database.swap(keyOf(log), kept.revision, undefined);
      });
      return (await Promise.all(deleted)).filter(Boolean).length;
    },

    async ping() {
      await database.get(identityKey);
    },

    async identity() {
      await database.swap(identityKey, 0, crypto.randomUUID());
      return (await database.get(identityKey))!.text;
    },

    close: async () => {},
  };
}

/** Whether the first task comes before the second: the older status, and of equals the smaller id. */
const isBefore = (at: string, taskId: string, otherAt: string, otherId: string): boolean =>
  at === otherAt ? taskId < otherId : at < otherAt;
