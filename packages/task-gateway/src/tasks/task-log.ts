import type { MessageReceived } from '@batonjs/lifecycle';
import { sleep } from '@batonjs/protocol/timing';
import { derivedTaskId, scopeOf } from '@batonjs/server/internals';
import {
  foldLog,
  type ListedTask,
  type Scope,
  type StoredFact,
  StoreError,
  type TaskStore,
} from '@batonjs/store';
import {
  assignmentIn,
  type GatewayStatus,
  type GatewayTask,
  type GatewayTransition,
  isContinued,
  noteIn,
  reportOf,
  shownStatus,
  statesOf,
  statusIn,
  transitionIn,
} from './gateway-task.ts';

/** Where the log of a task is in the store. */
export interface TaskAddress {
  readonly scope: Scope;
  /** The id of the task in the store, which is derived from the scope and the `taskId` that clients use. */
  readonly id: string;
}

/** A task, and the submission that created it. */
export interface ReadTask {
  readonly task: GatewayTask;
  /** The number of the request that created it. */
  readonly submission: unknown;
  /** The id of the question that it shows: the same however often a process wrote it. */
  readonly question: string | undefined;
}

/** Which tasks to list. */
export interface TaskFilter {
  readonly status?: GatewayStatus;
  readonly type?: string;
  readonly after?: { readonly statusAt: string; readonly taskId: string };
  readonly limit: number;
}

/** Facts per read of a history. */
const pageOfFacts = 500;

export type TaskLog = ReturnType<typeof taskLogOf>;

/** The tasks of a gateway, read from the logs in its store. */
export function taskLogOf(store: StoreReads, name: string) {
  /** Where a caller's task is, whether it exists or not. */
  function addressOf(caller: string, taskId: string): TaskAddress {
    const scope = scopeOfCaller(caller);
    return { scope, id: derivedTaskId(scope, taskId) };
  }

  const scopeOfCaller = (caller: string): Scope => scopeOf(name, undefined, { scope: caller });

  /** The task as it is now, or undefined. */
  async function read({ scope, id }: TaskAddress): Promise<ReadTask | undefined> {
    const log = await store.load(scope, id);
    const state = log && foldLog(log);
    if (!state?.task) return undefined;
    const first = log?.facts[0]?.version === 1 ? log.facts[0] : await firstOf(scope, id);
    const received = first?.fact as MessageReceived | undefined;
    if (!received) return undefined;
    const shown = shownStatus(state, state.task.status);
    return {
      task: { ...assignmentIn(received.message), ...reportOf(shown, state.statusVersion) },
      submission: received.caller?.submission,
      question: noteIn(shown.message).question?.id,
    };
  }

  /** Up to `limit` transitions after a position, and the position to go on after. */
  async function history(
    { scope, id }: TaskAddress,
    after: number,
    limit: number,
  ): Promise<{ readonly transitions: readonly GatewayTransition[]; readonly next?: number }> {
    const transitions: GatewayTransition[] = [];
    let position = after;
    for (;;) {
      const facts = await store.readFacts(scope, id, position, pageOfFacts);
      for (const { fact, version } of facts) {
        const transition = transitionIn(fact, version);
        if (transition && transitions.length === limit) return { transitions, next: position };
        if (transition) transitions.push(transition);
        position = version;
      }
      if (facts.length < pageOfFacts) return { transitions };
    }
  }

  /** The caller's tasks, those whose status changed last first, and the cursor of those that are left. */
  async function list(
    caller: string,
    { status, type, after, limit }: TaskFilter,
  ): Promise<{ readonly tasks: readonly GatewayTask[]; readonly cursor?: string }> {
    const scope = scopeOfCaller(caller);
    const states = status ? statesOf(status) : [undefined];
    const pages = await Promise.all(
      states.map((state) =>
        store.list(scope, {
          limit: limit + 1,
          ...(state && { state }),
          ...(type !== undefined && { contextId: type }),
          ...(after && { after }),
        }),
      ),
    );
    const found = pages
      .flatMap(({ tasks }) => tasks)
      .sort((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1));
    const listed = found.slice(0, limit);
    const tasks = await Promise.all(
      listed.map(async ({ taskId, fact }) => {
        const status = fact && statusIn(fact.fact);
        // What the task asks is further back in its log.
        if (status && isContinued(status)) return (await read({ scope, id: taskId }))?.task;
        return toTask(await firstOf(scope, taskId), fact);
      }),
    );
    const last = listed.at(-1);
    return {
      tasks: tasks.filter((task) => task !== undefined),
      ...(found.length > limit && last && { cursor: encodeCursor(last.head.statusAt, last.taskId) }),
    };
  }

  async function firstOf(scope: Scope, id: string): Promise<StoredFact | undefined> {
    const [first] = await store.readFacts(scope, id, 0, 1);
    return first;
  }

  return { addressOf, scopeOf: scopeOfCaller, read, history, list, store };
}

function toTask(first: StoredFact | undefined, stored: StoredFact | undefined): GatewayTask | undefined {
  const status = stored && statusIn(stored.fact);
  if (first?.fact.type !== 'message-received' || !status) return undefined;
  return { ...assignmentIn(first.fact.message), ...reportOf(status, stored.version) };
}

/** Grows with the time of the status, whose text has one length, and then with the id. */
const keyOf = ({ taskId, head }: ListedTask): string => head.statusAt + taskId;

const encodeCursor = (statusAt: string, taskId: string): string =>
  Buffer.from(JSON.stringify([statusAt, taskId])).toString('base64url');

/** The place that a cursor names; undefined if it is none of this gateway's. */
export function decodeCursor(cursor: string): TaskFilter['after'] {
  try {
    const [statusAt, taskId] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isTime = typeof statusAt === 'string' && !Number.isNaN(Date.parse(statusAt));
    if (isTime && typeof taskId === 'string' && encodeCursor(statusAt, taskId) === cursor)
      return { statusAt, taskId };
  } catch {
    // Falls through: a cursor is opaque, so any text may come.
  }
  return undefined;
}

/** What requests and WebSockets need of the store: changes are calls of the gateway's own agent server. */
export type StoreReads = Pick<TaskStore, 'load' | 'readFacts' | 'list' | 'subscribe'>;

/** How long `close` waits for a store that does not answer, in milliseconds. */
const longestMs = 5_000;

/**
 * The store as requests and WebSockets read it, until it is closed: the program closes its store as soon as the gateway
 * is, and whatever still asked it then would fail.
 */
export function readingStore(store: TaskStore): StoreReads & Pick<TaskStore, 'close'> {
  const underWay = new Set<Promise<unknown>>();
  const subscriptions = new Set<() => Promise<void>>();
  let isClosed = false;

  /** Ends all subscriptions, and resolves when nothing asks the store any more. Later calls reject with `UNAVAILABLE`. */
  async function close(): Promise<void> {
    isClosed = true;
    for (const leave of subscriptions) leave().catch(() => {});
    const over = new AbortController();
    await Promise.race([sleep(longestMs, over.signal), Promise.allSettled(underWay)]);
    over.abort();
  }

  async function ask<T>(call: () => Promise<T>): Promise<T> {
    if (isClosed) throw new StoreError('UNAVAILABLE', 'The gateway is closed');
    return track(call);
  }

  async function track<T>(call: () => Promise<T>): Promise<T> {
    const asked = call();
    underWay.add(asked);
    try {
      return await asked;
    } finally {
      underWay.delete(asked);
    }
  }

  return {
    load: (...args) => ask(() => store.load(...args)),
    readFacts: (...args) => ask(() => store.readFacts(...args)),
    list: (...args) => ask(() => store.list(...args)),
    subscribe: (...args) =>
      ask(async () => {
        const end = await store.subscribe(...args);
        const leave = () => {
          subscriptions.delete(leave);
          return track(async () => end());
        };
        if (isClosed) await leave();
        else subscriptions.add(leave);
        return leave;
      }),
    close,
  };
}
