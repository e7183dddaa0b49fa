import type { Compare, RangeRequest } from '../wire/messages.ts';
import { digestOf } from './digest.ts';
import { largestFirst, newestFirst, positionIn, timeIn } from './order.ts';

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
  const at = (...parts: readonly string[]) => `${prefix}/${parts.join('/')}`;
  const folder = (...parts: readonly string[]) => `${at(...parts)}/`;
  const ready = (queue: string) => folder('ready', digestOf(queue));
  return {
    meta: at('meta'),
    clock: at('clock'),
    probe: at('probe'),
    buckets: folder('bucket'),
    bucket: (name: string) => at('bucket', digestOf(name)),

    task: (task: string) => at('task', task),
    snapshot: (task: string) => at('snapshot', task),
    facts: (task: string) => folder('fact', task),
    /** The facts of one commit, by the position of its last one: the first key after a position holds the fact there. */
    fact: (task: string, last: number) => at('fact', task, positionIn(last)),
    parts: (task: string) => folder('part', task),
    partsOf: (task: string, id: string) => folder('part', task, id),
    part: (task: string, id: string, n: number) => at('part', task, id, `${n}`),
    allOnce: (task: string) => folder('once', task),
    once: (task: string, once: string) => at('once', task, digestOf(once)),
    /** All webhooks of a task, without the configs of large ones. */
    webhooks: (task: string) => at('webhooks', task),
    /** The configs of large webhooks. */
    configs: (task: string) => folder('config', task),
    config: (task: string, id: string) => at('config', task, digestOf(id)),

    /** The tasks of a scope, or of one of its contexts, in a state. */
    listed: (scope: string, contextId: string | undefined, state: string) =>
      contextId === undefined
        ? folder('list', digestOf(scope), state)
        : folder('context', digestOf(scope, contextId), state),
    /** The place of a task among those: the newest status first. */
    place: (statusAt: string, taskId: string) =>
      `${newestFirst(Date.parse(statusAt))}/${largestFirst(taskId)}`,

    /** Logs that may be deleted, by the time of their end. */
    ended: folder('ended'),
    heldBy: (queue: string, holder: string) => folder('holder', digestOf(queue, holder)),
    /** What can be claimed from a queue without waiting for a deadline. Processes watch it. */
    ready,
    waiting: (queue: string) => `${ready(queue)}task/`,
    deliveries: (queue: string) => `${ready(queue)}webhook/`,
    /** Tasks of a queue by their deadline, by the wall clock. */
    due: (queue: string) => folder('due', digestOf(queue)),
    /** Tasks of a queue by the end of their lease, by the clock of leases. */
    leased: (queue: string) => folder('leased', digestOf(queue)),
    /** Tasks that a schedule orders, by caller. */
    turns: (queue: string) => folder('turn', digestOf(queue)),
    turnsOf: (queue: string, scope: string) => folder('turn', digestOf(queue), digestOf(scope)),
    /** The last turns of callers, in order. */
    served: (queue: string) => folder('served', digestOf(queue)),
    queue: (queue: string) => at('queue', digestOf(queue)),
    /** Tasks with webhooks that were given up. */
    dead: (queue: string) => folder('dead', digestOf(queue)),
  };
}
