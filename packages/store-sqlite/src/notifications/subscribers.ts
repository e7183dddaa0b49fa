import type { Topic } from '@batonjs/store';

type Notify = (version?: number) => void;

/**
 * The number under which a topic is announced to other processes. Two topics may have the same one: then a bell rings
 * too often, which it may.
 */
export function numberOf(topic: Topic): number {
  const name = 'queue' in topic ? `queue ${topic.queue}` : `task ${topic.taskId} ${topic.scope}`;
  let number = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    number = Math.imul(number ^ name.charCodeAt(index), 0x01000193);
  }
  return number >>> 0;
}

/** Who watches what in this process. */
export class Bells {
  readonly #watchers = new Map<number, Set<{ readonly notify: Notify }>>();

  get watched(): boolean {
    return this.#watchers.size > 0;
  }

  /** Returns what stops it. */
  hang(topic: Topic, notify: Notify): () => void {
    const number = numberOf(topic);
    const watchers = this.#watchers.get(number) ?? new Set();
    this.#watchers.set(number, watchers);
    const watcher = { notify };
    watchers.add(watcher);
    return () => {
      if (watchers.delete(watcher) && watchers.size === 0) this.#watchers.delete(number);
    };
  }

  /** `version`: how long the log of the task is, at least. */
  ring(number: number, version?: number): void {
    for (const { notify } of this.#watchers.get(number) ?? []) {
      try {
        notify(version);
      } catch (error) {
        // What is stored stays stored, whatever its watchers do; their mistake is theirs to hear of.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  ringAll(): void {
    for (const number of this.#watchers.keys()) this.ring(number);
  }
}
