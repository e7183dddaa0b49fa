import { createHash, randomUUID } from 'node:crypto';
import { type Layouts, stepsFrom } from '@batonjs/store/adapter';
import type { Cluster } from '../cluster/cluster.ts';
import type { Compare, RangeRequest } from '../wire/messages.ts';

/** A range of keys, without its end. */
export type Range = Required<Pick<RangeRequest, 'key' | 'rangeEnd'>>;

/** Every key that begins with `folder`, which ends with a slash. */
export const inside = (folder: string): Range => ({
  key: folder,
  // The character after the slash.
  rangeEnd: `${folder.slice(0, -1)}0`,
});

/** The keys of a folder up to a time, where the next part of a key is a time. */
export const insideUntil = (folder: string, ms: number, time = timeIn): Range => ({
  key: folder,
  rangeEnd: `${folder}${time(ms + 1)}`,
});

/** The last part of a key. */
export const lastPart = ({ key }: { readonly key: Buffer | string }): string => {
  const text = String(key);
  return text.slice(text.lastIndexOf('/') + 1);
};

/** Holds while the key is as it was read; at revision 0: while there is no such key. */
export const unchanged = (key: string, modRevision: number): Compare => ({
  result: 0,
  target: 2,
  key,
  modRevision,
});

export type Keys = ReturnType<typeof keysOf>;

/** The keys of a store. `task` is the digest of a scope and a task id. Folders end with a slash. */
export function keysOf(prefix: string) {
  const ready = (queue: string) => `${prefix}/ready/${digestOf(queue)}/`;
  return {
    meta: `${prefix}/meta`,
    clock: `${prefix}/clock`,
    probe: `${prefix}/probe`,
    /** While it is there, nothing is written. */
    frozen: `${prefix}/frozen`,
    buckets: `${prefix}/bucket/`,
    bucket: (name: string) => `${prefix}/bucket/${digestOf(name)}`,

    tasks: `${prefix}/task/`,
    task: (task: string) => `${prefix}/task/${task}`,
    snapshot: (task: string) => `${prefix}/snapshot/${task}`,
    facts: (task: string) => `${prefix}/fact/${task}/`,
    /** The facts of one commit, by the position of its last one: the first key after a position holds the fact there. */
    fact: (task: string, last: number) => `${prefix}/fact/${task}/${positionIn(last)}`,
    parts: (task: string) => `${prefix}/part/${task}/`,
    partsOf: (task: string, id: string) => `${prefix}/part/${task}/${id}/`,
    part: (task: string, id: string, n: number) => `${prefix}/part/${task}/${id}/${n}`,
    allOnce: (task: string) => `${prefix}/once/${task}/`,
    once: (task: string, once: string) => `${prefix}/once/${task}/${digestOf(once)}`,
    /** All webhooks of a task, without the configs of large ones. */
    webhooks: (task: string) => `${prefix}/webhooks/${task}`,
    /** The configs of large webhooks. */
    configs: (task: string) => `${prefix}/config/${task}/`,
    config: (task: string, id: string) => `${prefix}/config/${task}/${digestOf(id)}`,

    /** The tasks of a scope, of one of its contexts, or with a term: a folder for each state. */
    inScope: (scope: string) => `${prefix}/list/${digestOf(scope)}/`,
    inContext: (scope: string, contextId: string) => `${prefix}/context/${digestOf(scope, contextId)}/`,
    withTerm: (scope: string, term: string) => `${prefix}/term/${digestOf(scope, term)}/`,
    /** The place of a task among those: the newest status first. */
    place: (statusAt: string, taskId: string) =>
      `${newestFirst(Date.parse(statusAt))}/${largestFirst(taskId)}`,

    records: `${prefix}/record/`,
    record: (name: string) => `${prefix}/record/${name}`,
    recordsOf: (scope: string) => `${prefix}/record-of/${digestOf(scope)}/`,
    /** Records by the end of their time. */
    recordEnds: `${prefix}/record-end/`,

    /** Logs that may be deleted, by the time of their end. */
    ended: `${prefix}/ended/`,
    heldBy: (queue: string, holder: string) => `${prefix}/holder/${digestOf(queue, holder)}/`,
    /** What can be claimed from a queue without waiting for a deadline. Processes watch it. */
    ready,
    waiting: (queue: string) => `${ready(queue)}task/`,
    deliveries: (queue: string) => `${ready(queue)}webhook/`,
    /** Tasks of a queue by their deadline, by the wall clock. */
    due: (queue: string) => `${prefix}/due/${digestOf(queue)}/`,
    /** Tasks of a queue by the end of their lease, by the clock of leases. */
    leased: (queue: string) => `${prefix}/leased/${digestOf(queue)}/`,
    /** Tasks that a schedule orders, by caller. */
    turns: (queue: string) => `${prefix}/turn/${digestOf(queue)}/`,
    turnsOf: (queue: string, scope: string) => `${prefix}/turn/${digestOf(queue)}/${digestOf(scope)}/`,
    /** The last turns of callers, in order. */
    served: (queue: string) => `${prefix}/served/${digestOf(queue)}/`,
    queue: (queue: string) => `${prefix}/queue/${digestOf(queue)}`,
    /** Tasks with webhooks that were given up. */
    dead: (queue: string) => `${prefix}/dead/${digestOf(queue)}/`,
  };
}

// Keys of etcd are ordered by their bytes: numbers have a fixed width in them.

const positionDigits = 10;
const timeDigits = 15;
const lastTime = 10 ** timeDigits - 1;

const positionIn = (position: number): string => String(position).padStart(positionDigits, '0');

/** Milliseconds since 1970. */
export const timeIn = (ms: number): string =>
  String(Math.min(lastTime, Math.max(0, Math.floor(ms)))).padStart(timeDigits, '0');

/** The newest first. */
export const newestFirst = (ms: number): string => timeIn(lastTime - Math.max(0, ms));

/** The largest id first: the bytes of the id turned round, in hexadecimal digits, and an end after all that follow it. */
function largestFirst(id: string): string {
  const turned = Buffer.from(id).map((byte) => byte ^ 0xff);
  return `${Buffer.from(turned).toString('hex')}ff`;
}

/** The time of a place in a schedule, which may lie before 1970. */
export const turnIn = (ms: number): string =>
  String(Math.min(2 * lastTime, Math.max(0, Math.floor(ms) + lastTime))).padStart(timeDigits + 1, '0');

/** The time that `turnIn` wrote. */
export const turnOf = (text: string): number => Number(text) - lastTime;

/** A digest of ids, of 24 characters: ids may be long, and may hold any character. */
export function digestOf(...ids: readonly string[]): string {
  const hash = createHash('sha256');
  // Ids hold no NUL.
  hash.update(ids.join('\0'));
  return hash.digest('base64url').slice(0, 24);
}

/**
 * The layouts of the data, see `Layouts`. A test compares them with stored data. The first release that keeps data for
 * later ones began with 900.
 */
export const layouts: Layouts<{ readonly cluster: Cluster; readonly keys: Keys }> = {
  current: 900,
  steps: [],
};

/**
 * The identity of the data under a key, which is written if there is none. Brings data of an older layout forward: several
 * processes may do so at once. Rejects with code `UNUSABLE` for a layout that this release does not read.
 */
export async function identityOf(cluster: Cluster, keys: Keys): Promise<string> {
  const { meta: key } = keys;
  // Most processes start on data that is there: a read then costs no write of the cluster.
  let kept = await cluster.get(key);
  while (!kept) {
    const value = JSON.stringify({ layout: layouts.current, identity: randomUUID() });
    await cluster.transact({ compare: [unchanged(key, 0)], success: [{ put: { key, value } }] });
    // Another process may have written it first.
    kept = await cluster.get(key);
  }
  const { layout, identity } = JSON.parse(String(kept.value));
  const names = { data: `"${key}" in ${cluster.connections.name}`, instead: 'another prefix' };
  const [step] = stepsFrom(layout, layouts, names);
  if (!step) return identity;
  await step.run({ cluster, keys });
  const value = JSON.stringify({ layout: step.to, identity });
  await cluster.transact({ compare: [unchanged(key, kept.modRevision)], success: [{ put: { key, value } }] });
  return identityOf(cluster, keys);
}
