import type { Unsubscribe } from '@batonjs/store';
import { type Notification, Subscribers, type Topic, topicNumber } from '@batonjs/store/adapter';
import { digestOf, inside, type Keys, timeIn } from '../layout/keys.ts';
import type { KeyValue } from '../wire/messages.ts';
import type { Watch, Watches } from './watches.ts';

/** A topic with subscribers in this process. */
class Watched {
  readonly subscribers = new Subscribers();
  readonly watch: Watch;
  readonly #number: number;
  #revision = 0;
  #version = 0;

  constructor(topic: Topic, key: string, watches: Watches) {
    const isQueue = 'queue' in topic;
    this.#number = topicNumber(topic);
    this.watch = watches.begin({
      ...(isQueue ? inside(key) : { key }),
      onEvent: (kept) => {
        if (!isQueue) this.notify(kept.modRevision, versionOf(kept));
        else if (isReady(key, kept)) this.notify(kept.modRevision);
      },
      onMissed: () => this.subscribers.notifyAll(),
    });
  }

  /**
   * `revision`: that of the cluster at the change. The same change may be announced by its writer and by the watch: the
   * second is left out, and so is a change of the task that made its log no longer.
   */
  notify(revision: number, version?: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    if (version !== undefined && version === this.#version) return;
    this.#version = version ?? 0;
    this.subscribers.notify(this.#number, version);
  }
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

  /** Something has changed. Called after the transaction, with its revision. */
  announce(topic: Notification, revision: number): void {
    if (this.#watched.size === 0) return;
    this.#watched.get(this.#keyOf(topic))?.notify(revision, topic.version);
  }

  async subscribe(topic: Topic, notify: (version?: number) => void): Promise<Unsubscribe> {
    const key = this.#keyOf(topic);
    const watched = this.#watched.get(key) ?? new Watched(topic, key, this.#watches);
    this.#watched.set(key, watched);
    const { subscribers, watch } = watched;
    const remove = subscribers.add(topic, notify);
    const unsubscribe = () => {
      void remove();
      if (!subscribers.isEmpty || this.#watched.get(key) !== watched) return;
      this.#watched.delete(key);
      watch.end();
    };
    try {
      // What changes after this promise is resolved must be noticed.
      await watch.created;
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  #keyOf(topic: Topic): string {
    return 'queue' in topic
      ? this.#keys.ready(topic.queue)
      : this.#keys.task(digestOf(topic.scope, topic.taskId));
  }
}

const versionOf = ({ value }: KeyValue): number => JSON.parse(String(value)).version;

/** Whether what was put into a queue can be claimed now: its key says from when. */
function isReady(folder: string, { key }: KeyValue): boolean {
  const [, time = ''] = String(key).slice(folder.length).split('/');
  // A second more: the clocks of machines differ, and an early notification does no harm.
  return time <= timeIn(Date.now() + 1_000);
}
