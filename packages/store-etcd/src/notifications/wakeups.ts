import type { Topic, Unsubscribe } from '@batonjs/store';
import { digestOf } from '../layout/digest.ts';
import { inside, type Keys } from '../layout/keys.ts';
import { timeIn } from '../layout/order.ts';
import type { KeyValue } from '../wire/messages.ts';
import { Subscribers } from './subscribers.ts';
import type { Watch, Watches } from './watches.ts';

interface Watched {
  readonly subscribers: Subscribers;
  readonly watch: Watch;
}

/** Notifies subscribers: of the writes of this process at once, of those of others by watches of etcd. */
export class Wakeups {
  readonly #keys: Keys;
  readonly #watches: Watches;
  readonly #watched = new Map<string, Watched>();

  constructor(keys: Keys, watches: Watches) {
    this.#keys = keys;
    this.#watches = watches;
  }

  /** A commit made the log of a task (its digest) longer. Called after the transaction, with its revision. */
  announceTask(task: string, version: number, revision: number): void {
    if (this.#watched.size === 0) return;
    this.#watched.get(this.#keys.log(task))?.subscribers.notify(revision, version);
  }

  /** Something can be claimed from the queue. */
  announceQueue(queue: string, revision: number): void {
    this.#watched.get(this.#keys.ready(queue))?.subscribers.notify(revision);
  }

  async subscribe(topic: Topic, notify: (version?: number) => void): Promise<Unsubscribe> {
    const key =
      'queue' in topic ? this.#keys.ready(topic.queue) : this.#keys.log(digestOf(topic.scope, topic.taskId));
    const watched = this.#watched.get(key) ?? this.#watch(key, 'queue' in topic);
    const remove = watched.subscribers.add(notify);
    const unsubscribe = () => {
      remove();
      if (!watched.subscribers.isEmpty || this.#watched.get(key) !== watched) return;
      this.#watched.delete(key);
      watched.watch.end();
    };
    try {
      // What changes after this promise is resolved must be noticed.
      await watched.watch.created;
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  #watch(key: string, isQueue: boolean): Watched {
    const subscribers = new Subscribers();
    const watch = this.#watches.begin({
      ...(isQueue ? inside(key) : { key }),
      onEvent: (kept) => {
        if (!isQueue) subscribers.notify(kept.modRevision, versionOf(kept));
        else if (isReady(key, kept)) subscribers.notify(kept.modRevision);
      },
      onMissed: () => subscribers.notifyAnyway(),
    });
    const watched = { subscribers, watch };
    this.#watched.set(key, watched);
    return watched;
  }
}

const versionOf = ({ value }: KeyValue): number => JSON.parse(String(value)).version;

/** Whether what was put into a queue can be claimed now: its key says from when. */
function isReady(folder: string, { key }: KeyValue): boolean {
  const [, time = ''] = String(key).slice(folder.length).split('/');
  // A second more: the clocks of machines differ, and an early notification does no harm.
  return time <= timeIn(Date.now() + 1_000);
}
