import type { Topic } from '@batonjs/store';
import { taskName } from '../database/shards.ts';

type Notify = (version?: number) => void;

/** Who watches what in this process. */
export class Bells {
  readonly #watchers = new Map<string, Set<{ readonly notify: Notify }>>();

  /** Returns what stops it. */
  hang(topic: Topic, notify: Notify): () => void {
    const key = keyOf(topic);
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers);
    const watcher = { notify };
    watchers.add(watcher);
    return () => {
      if (watchers.delete(watcher) && watchers.size === 0) this.#watchers.delete(key);
    };
  }

  /** Rings for what a script said: `q<queue>`, or `t<version>`, NUL and the name of a task. */
  hear(message: string): void {
    const end = message.indexOf('\0');
    if (message.startsWith('q')) this.#ring(message);
    else this.#ring(`t${message.slice(end + 1)}`, Number(message.slice(1, end)));
  }

  ringAll(): void {
    for (const key of this.#watchers.keys()) this.#ring(key);
  }

  #ring(key: string, version?: number): void {
    for (const { notify } of this.#watchers.get(key) ?? []) {
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
}

const keyOf = (topic: Topic): string =>
  'queue' in topic ? `q${topic.queue}` : `t${taskName(topic.scope, topic.taskId)}`;
