import type { Compare, RangeRequest } from '../wire/messages.ts';
import { digestOf } from './digest.ts';
import { largestFirst, newestFirst, positionIn, timeIn } from './order.ts';

/** Every key that begins with `folder`, which ends with a slash. */
export const inside = (folder: string): { readonly key: string; readonly rangeEnd: string } => ({
  key: folder,
  // The character after the slash.
  rangeEnd: `${folder.slice(0, -1)}0`,
});

/** The keys of a folder up to a time, where the next part of a key is a time. */
export const insideUntil = (folder: string, ms: number): RangeRequest => ({
  key: folder,
  rangeEnd: `${folder}${timeIn(ms + 1)}`,
});

/** The last part of a key. */
export const lastPart = (key: Buffer | string): string => {
  const text = String(key);
  return text.slice(text.lastIndexOf('/') + 1);
};

/** The keys of the store. `task` is the digest of a scope and a task id. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get meta(): string {
    return `${this.#prefix}/meta`;
  }

  get clock(): string {
    return `${this.#prefix}/clock`;
  }

  get probe(): string {
    return `${this.#prefix}/probe`;
  }

  get buckets(): string {
    return `${this.#prefix}/bucket/`;
  }

  bucket(name: string): string {
    return `${this.buckets}${digestOf(name)}`;
  }

  task(task: string): string {
    return `${this.#prefix}/task/${task}`;
  }

  snapshot(task: string): string {
    return `${this.#prefix}/snapshot/${task}`;
  }

  facts(task: string): string {
    return `${this.#prefix}/fact/${task}/`;
  }

  /** The facts of one commit, by the position of its last one: the first key after a position holds the fact there. */
  fact(task: string, last: number): string {
    return `${this.facts(task)}${positionIn(last)}`;
  }

  parts(task: string): string {
    return `${this.#prefix}/part/${task}/`;
  }

  partsOf(task: string, id: string): string {
    return `${this.parts(task)}${id}/`;
  }

  part(task: string, id: string, n: number): string {
    return `${this.partsOf(task, id)}${n}`;
  }

  allOnce(task: string): string {
    return `${this.#prefix}/once/${task}/`;
  }

  once(task: string, once: string): string {
    return `${this.allOnce(task)}${digestOf(once)}`;
  }

  /** All webhooks of a task, without the configs of large ones. */
  webhooks(task: string): string {
    return `${this.#prefix}/webhooks/${task}`;
  }

  configs(task: string): string {
    return `${this.#prefix}/config/${task}/`;
  }

  /** The config of a large webhook. */
  config(task: string, id: string): string {
    return `${this.configs(task)}${digestOf(id)}`;
  }

  /** The tasks of a scope, or of one of its contexts, in a state. */
  listed(scope: string, contextId: string | undefined, state: string): string {
    const place =
      contextId === undefined ? `list/${digestOf(scope)}` : `context/${digestOf(scope, contextId)}`;
    return `${this.#prefix}/${place}/${state}/`;
  }

  /** The place of a task among those: the newest status first. */
  place(statusAt: string, taskId: string): string {
    return `${newestFirst(Date.parse(statusAt))}/${largestFirst(taskId)}`;
  }

  /** Logs that may be deleted, by the time of their end. */
  get ended(): string {
    return `${this.#prefix}/ended/`;
  }

  heldBy(holder: string): string {
    return `${this.#prefix}/holder/${digestOf(holder)}/`;
  }

  /** What can be claimed from a queue without waiting for a deadline. Processes watch it. */
  ready(queue: string): string {
    return `${this.#prefix}/ready/${digestOf(queue)}/`;
  }

  waiting(queue: string): string {
    return `${this.ready(queue)}task/`;
  }

  deliveries(queue: string): string {
    return `${this.ready(queue)}webhook/`;
  }

  /** Tasks of a queue by their deadline, by the wall clock. */
  due(queue: string): string {
    return `${this.#prefix}/due/${digestOf(queue)}/`;
  }

  /** Tasks of a queue by the end of their lease, by the clock of leases. */
  leased(queue: string): string {
    return `${this.#prefix}/leased/${digestOf(queue)}/`;
  }

  /** Tasks that a schedule orders, by caller. */
  turns(queue: string): string {
    return `${this.#prefix}/turn/${digestOf(queue)}/`;
  }

  turnsOf(queue: string, scope: string): string {
    return `${this.turns(queue)}${digestOf(scope)}/`;
  }

  /** The last turns of callers, in order. */
  served(queue: string): string {
    return `${this.#prefix}/served/${digestOf(queue)}/`;
  }

  queue(queue: string): string {
    return `${this.#prefix}/queue/${digestOf(queue)}`;
  }

  /** Tasks with webhooks that were given up. */
  dead(queue: string): string {
    return `${this.#prefix}/dead/${digestOf(queue)}/`;
  }
}

/** Holds while the key is as it was read at this revision; 0: while there is no such key. */
export const unchanged = (key: string, modRevision: number): Compare => ({
  result: 0,
  target: 2,
  key,
  modRevision,
});
