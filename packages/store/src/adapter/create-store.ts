import { frozenJson } from '@batonjs/lifecycle/internals';
import { type Commit, StoreError } from '../port/commit.ts';
import type { Scope, TaskName } from '../port/lease.ts';
import type { PushConfig, PushConfigStore } from '../port/push-config-store.ts';
import { type Answer, isPending, whenAnswered } from '../port/rows.ts';
import type { Erased, TaskPage, TaskQuery, TaskStore } from '../port/task-store.ts';
import { takeStep } from '../rules/bucket.ts';
import { foundOf, foundTask } from '../rules/change.ts';
import { namesOf, pinnedIn, pinnedWanted, renewStep, unpinStep } from '../rules/claim.ts';
import { forgetTurnsStep } from '../rules/claim-turns.ts';
import { commitStep, type PreparedCommit } from '../rules/commit.ts';
import { listSearch } from '../rules/list.ts';
import { eraseStep, isOfDeletion, rememberStep } from '../rules/prune.ts';
import { deleteRecordStep, expireStep, foundRecord, putRecordStep, storedRecord } from '../rules/record.ts';
import { byName, leaseReading, pushConfigOf } from '../rules/task-row.ts';
import {
  outcomeStep,
  putStep,
  removeStep,
  retryNowStep,
  reviveStep,
  withWebhooks,
} from '../rules/webhook.ts';
import {
  changeEachPart,
  changeParts,
  changeRecord,
  claim,
  claimDeliveries,
  commitFrom,
  inBatches,
  listRecords,
  prune,
  readParts,
  readRecord,
} from './in-parts.ts';
import { measure, readFacts, storedLog } from './read-log.ts';
import type { Rows } from './rows.ts';
import { transferOf } from './transfer.ts';
import { prefixesOf } from './words.ts';

/** How many webhooks one change lets be tried again: a database takes so many tasks in one step. */
const retriedAtOnce = 50;
/** How many records whose time is over the first put of sixteen deletes: it takes a round trip more. */
const mostExpired = 100;

/** A store on the rows of a database. `name`: that of the database, for errors. */
export function createStore<Json>(name: string, rows: Rows<Json>): TaskStore & PushConfigStore {
  const calls = openCallsOf(name);
  const call = <T>(work: () => Answer<T>): Promise<T> => Promise.resolve(calls.pass(work));
  const pushConfigs = (scope: string, taskId: string): Answer<readonly PushConfig[]> =>
    whenAnswered(rows.read(withWebhooks({ scope, taskId })), (found) =>
      foundTask(found).webhooks.map(pushConfigOf),
    );
  let puts = 0;
  let closing: Promise<void> | undefined;

  return {
    schedules: true,
    ...(rows.system && { system: rows.system }),
    ...(rows.isPrivate && { isPrivate: true }),

    commit: (commit) =>
      calls.pass(() => {
        const prepared = prepareCommit(rows, commit);
        return commit.origin === undefined ? rows.change(commitStep(prepared)) : commitFrom(rows, prepared);
      }),
    load: (scope, taskId) => call(() => storedLog(rows, scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      call(() => readFacts(rows, { scope, taskId }, after, limit, lastCommitId)),
    list: (scope, query) => call(() => page(name, rows, scope, query)),
    ...(rows.texts && { searchesText: () => call(() => rows.texts?.isOn() ?? false) }),
    subscribe: (topic, notify) => calls.pass(() => rows.subscribe(topic, notify)),

    claim: (request) => call(() => claim(rows, request)),
    renew: (leases, ttlMs) =>
      call(() => {
        if (leases.length === 0) return [];
        const renewed = changeParts(rows, leases, (some) => renewStep(some, ttlMs));
        return whenAnswered(renewed, (kept) => {
          const held = new Set(kept.flat());
          return leases.filter((lease) => held.has(lease));
        });
      }),
    lease: (scope, taskId) =>
      call(() =>
        whenAnswered(rows.read({ tasks: [{ scope, taskId }] }), (found) => {
          const { row } = foundTask(found);
          return row?.head && leaseReading(row);
        }),
      ),
    waiting: (queue, atMost) =>
      call(() =>
        whenAnswered(readParts(rows, { waiting: { queue, atMost } }), (parts) =>
          parts.reduce((sum, found) => sum + foundOf(found, 'waiting'), 0),
        ),
      ),
    measure: (queue) => call(() => measure(rows, queue)),
    pinned: (queue, version, limit) =>
      call(() =>
        whenAnswered(readParts(rows, pinnedWanted(queue, version, limit)), (parts) =>
          namesOf(parts.flatMap((found) => pinnedIn(found, limit))).slice(0, limit),
        ),
      ),
    unpin: (queue, version, limit) =>
      call(() => inBatches(rows, limit, (some, change) => change(unpinStep(queue, version, some)))),
    prune: ({ closedBefore, limit }) => call(() => prune(rows, Date.parse(closedBefore), limit)),
    erase: (scope, taskId) => call(() => erase(rows, { scope, taskId })),
    forgetTurns: (queue, scope) => call(() => changeEachPart(rows, forgetTurnsStep(queue, scope))),
    getRecord: (name) =>
      call(() => whenAnswered(readRecord(rows, name), (found) => storedRecord(foundRecord(found), found))),
    putRecord: (name, revision, value, options) =>
      call(() => {
        const step = putRecordStep(name, revision, value, options);
        const put = () => changeRecord(rows, name, step);
        // Those that are never put again go here.
        return puts++ % 16 > 0
          ? put()
          : whenAnswered(
              inBatches(rows, mostExpired, (some, change) => change(expireStep(some))),
              put,
            );
      }),
    deleteRecord: (name, revision) =>
      call(() => {
        const remove = () => changeRecord(rows, name, deleteRecordStep(name, revision));
        return isOfDeletion(name) ? whenAnswered(rows.change(rememberStep(name)), remove) : remove();
      }),
    listRecords: (query) => call(() => listRecords(rows, query)),
    take: (bucket, rate) => call(() => rows.change(takeStep(bucket, rate))),

    // A copy also of a configuration that is frozen: what it holds may not be.
    putPushConfig: (push, atMost) =>
      call(() => rows.change(putStep({ ...push, config: frozenJson({ ...push.config }) }, atMost))),
    getPushConfig: (scope, taskId, id) =>
      call(() => whenAnswered(pushConfigs(scope, taskId), (found) => found.find((push) => push.id === id))),
    listPushConfigs: (scope, taskId, { limit, after }) =>
      call(() =>
        whenAnswered(pushConfigs(scope, taskId), (found) =>
          found
            .filter(({ id }) => after === undefined || id > after)
            .sort(byName)
            .slice(0, limit),
        ),
      ),
    removePushConfig: (scope, taskId, id) => call(() => rows.change(removeStep({ scope, taskId, id }))),
    claimDeliveries: (request) => call(() => claimDeliveries(rows, request)),
    advance: (delivery, outcome) => call(() => rows.change(outcomeStep(delivery, outcome))),
    retryNow: (webhooks) =>
      call(async () => {
        for (let start = 0; start < webhooks.length; start += retriedAtOnce)
          await changeParts(rows, webhooks.slice(start, start + retriedAtOnce), retryNowStep);
      }),
    listDead: (queue, { limit }) =>
      call(() =>
        whenAnswered(readParts(rows, { dead: { queue, limit } }), (parts) =>
          parts
            .flatMap((found) => foundOf(found, 'dead').map(pushConfigOf))
            .sort(byName)
            .slice(0, limit),
        ),
      ),
    revive: (scope, taskId, id) => call(() => rows.change(reviveStep({ scope, taskId, id }))),

    ...(rows.every && { transfer: transferOf(rows, call) }),
    ...(rows.probe && { probe: () => call(() => rows.probe?.()) }),
    ping: () => call(() => rows.ping()),
    identity: () => call(() => rows.identity()),
    close() {
      closing ??= calls.close().then(() => rows.close());
      return closing;
    },
  };
}

const erase = <Json>(rows: Rows<Json>, task: TaskName): Answer<Erased | 'open' | undefined> =>
  whenAnswered(rows.read({ tasks: [task] }), (found) => {
    const { row } = foundTask(found);
    if (!row) return undefined;
    if (row.head && !row.head.closed) return 'open';
    return rows.change(eraseStep(task));
  });

/** Throws `UNUSABLE` for a search by text where there is none. */
function page<Json>(name: string, rows: Rows<Json>, scope: Scope, query: TaskQuery): Answer<TaskPage> {
  const search = listSearch(query);
  const { text } = query;
  if (text === undefined) return rows.page(scope, search);
  const { texts } = rows;
  return whenAnswered(texts?.isOn() ?? false, (isOn) => {
    if (!texts || !isOn) throw new StoreError('UNUSABLE', `${name} does not search the texts of tasks`);
    const prefixes = prefixesOf(text);
    // Without a word, there is nothing that a text could have.
    return prefixes.length === 0 ? { tasks: [], total: 0 } : texts.page(scope, search, prefixes);
  });
}

/** The commit as it is now: its caller may change its facts, its head and its snapshot before it is decided. */
function prepareCommit<Json>(rows: Rows<Json>, commit: Commit): PreparedCommit<Json> {
  const { facts, head, snapshot, expectedVersion } = commit;
  const isOpen = expectedVersion === 'open';
  return {
    commit: {
      ...commit,
      facts: isOpen ? facts.map((fact) => frozenJson(fact)) : facts.slice(),
      head: head && Object.freeze({ ...head }),
    },
    facts: facts.map((fact) => rows.encode(fact)),
    snapshot: snapshot && { version: snapshot.version, json: rows.encode(snapshot) },
    encode: (fact) => rows.encode(fact),
  };
}

/** Counts the calls under way, and refuses new ones once the store is closed. `name`: that of the database, for errors. */
function openCallsOf(name: string) {
  let inside = 0;
  let isClosed = false;
  let left: (() => void) | undefined;
  const leave = (): void => {
    inside--;
    if (inside === 0) left?.();
  };

  return {
    /**
     * The outcome of a call. Rejects with what it throws, and with code `UNAVAILABLE` once closed. One that answers at once is
     * not counted.
     */
    pass<T>(call: () => Answer<T>): Answer<T> {
      if (isClosed) return Promise.reject(new StoreError('UNAVAILABLE', `The store ${name} is closed`));
      try {
        const answer = call();
        if (!isPending(answer)) return answer;
        inside++;
        // A caller may look at the outcome later.
        answer.then(leave, leave);
        return answer;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    /** Refuses new calls. Resolves when the last call has ended. Called once. */
    close(): Promise<void> {
      isClosed = true;
      return new Promise((resolve) => {
        left = resolve;
        if (inside === 0) resolve();
      });
    },
  };
}
