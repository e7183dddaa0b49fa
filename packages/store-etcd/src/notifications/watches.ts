import { StoreError, type Unsubscribe } from '@batonjs/store';
import { type Notification, Subscribers, type Topic, topicNumber } from '@batonjs/store/adapter';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Connections, type Member, translated } from '../cluster/connections.ts';
import { digestOf, inside, type Keys, timeIn } from '../layout/keys.ts';
import {
  type KeyValue,
  methods,
  type RangeRequest,
  type WatchRequest,
  type WatchResponse,
} from '../wire/messages.ts';

/** The filter that leaves out deletions. */
const noDelete = 1;

/** The waits before a broken stream is opened again, in milliseconds. */
const reconnectMs = { first: 20, longest: 1_000 };

/** A key to watch, or a range of keys. */
export interface WatchOptions extends Pick<RangeRequest, 'key' | 'rangeEnd'> {
  readonly onEvent: (kept: KeyValue) => void;
  /** Events were missed: they are compacted away. */
  readonly onMissed: () => void;
}

interface Watch {
  /** Resolves once every later change is noticed. Rejects with code `UNAVAILABLE` if no member answers in time. */
  readonly created: Promise<void>;
  end(): void;
}

interface Watcher extends WatchOptions {
  id: number;
  /** The first revision that was not seen yet, once the watch was created. */
  next: number | undefined;
  readonly ready: PromiseWithResolvers<void>;
  isMissing: boolean;
}

interface Stream {
  readonly member: Member;
  readonly messages: ClientDuplexStream<WatchRequest, WatchResponse>;
}

/** All watches of a process, over one stream. After a break they go on where they were, on another member. */
export class Watches {
  readonly #connections: Connections;
  readonly #timeoutMs: number;
  readonly #watchers = new Map<number, Watcher>();
  #stream: Stream | undefined;
  #isOpening = false;
  #isClosed = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryMs = reconnectMs.first;
  #ids = 0;

  constructor(connections: Connections, timeoutMs: number) {
    this.#connections = connections;
    this.#timeoutMs = timeoutMs;
    // A member that answers no calls sends no events either, even if its connection stays open.
    connections.onLeave((member) => {
      if (member === this.#stream?.member) this.#broken(this.#stream);
    });
  }

  begin(options: WatchOptions): Watch {
    const ready = Promise.withResolvers<void>();
    const watcher: Watcher = { ...options, id: ++this.#ids, next: undefined, ready, isMissing: false };
    this.#watchers.set(watcher.id, watcher);
    const { name } = this.#connections;
    const late = () => ready.reject(new StoreError('UNAVAILABLE', `${name} did not begin a watch in time`));
    const timer = setTimeout(late, this.#timeoutMs);
    const stop = () => clearTimeout(timer);
    ready.promise.then(stop, stop);
    if (this.#stream) create(this.#stream, watcher);
    else void this.#open();
    return { created: ready.promise, end: () => this.#end(watcher) };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#stream?.messages.cancel();
  }

  #end(watcher: Watcher): void {
    if (this.#watchers.delete(watcher.id)) this.#stream?.messages.write({ cancel: { watchId: watcher.id } });
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.#stream || this.#isClosed) return;
    this.#isOpening = true;
    const member = this.#connections.current;
    try {
      const messages = await this.#connections.stream(member, methods.watch, this.#timeoutMs);
      const stream = { member, messages };
      messages.on('data', (response: WatchResponse) => this.#receive(stream, response));
      messages.on('error', () => this.#broken(stream));
      messages.on('end', () => this.#broken(stream));
      if (this.#isClosed) return void messages.cancel();
      this.#stream = stream;
      for (const watcher of this.#watchers.values()) create(stream, watcher);
    } catch {
      this.#openLater();
    } finally {
      this.#isOpening = false;
    }
  }

  #receive(stream: Stream, response: WatchResponse): void {
    if (stream !== this.#stream) return;
    const { watchId, created, canceled, compactRevision, cancelReason, header, events } = response;
    // A token is forgotten by a member that was started again. A refused watch may come without its id.
    const isRefused = created && canceled && compactRevision === 0;
    if (isRefused && this.#connections.forgetToken()) {
      this.#broken(stream);
      return;
    }
    this.#retryMs = reconnectMs.first;
    const watcher = this.#watchers.get(watchId);
    if (!watcher) return;
    if (canceled) {
      this.#watchers.delete(watchId);
      if (compactRevision > 0) this.#goOnFromNow(stream, watcher);
      else watcher.ready.reject(this.#refusal(cancelReason));
    } else if (created) {
      watcher.next ??= header.revision + 1;
      watcher.ready.resolve();
      if (watcher.isMissing) watcher.onMissed();
      watcher.isMissing = false;
    } else if (events.length === 0) watcher.next = header.revision + 1;
    for (const { kv } of events) {
      watcher.next = Math.max(watcher.next ?? 0, kv.modRevision + 1);
      watcher.onEvent(kv);
    }
  }

  /** Its next event is compacted away: subscribers look for themselves. */
  #goOnFromNow(stream: Stream, watcher: Watcher): void {
    watcher.id = ++this.#ids;
    watcher.next = undefined;
    watcher.isMissing = true;
    this.#watchers.set(watcher.id, watcher);
    create(stream, watcher);
  }

  #refusal(reason: Buffer): StoreError {
    return translated(this.#connections.name, new Error(`A watch was refused: ${reason}`));
  }

  #broken(stream: Stream): void {
    if (stream !== this.#stream) return;
    this.#stream = undefined;
    // What a stream says after it is given up is of no interest, its errors neither.
    stream.messages.cancel();
    this.#connections.leave(stream.member);
    if (this.#watchers.size > 0) this.#openLater();
  }

  #openLater(): void {
    clearTimeout(this.#retry);
    if (this.#isClosed) return;
    this.#retry = setTimeout(() => void this.#open(), this.#retryMs);
    this.#retryMs = Math.min(reconnectMs.longest, this.#retryMs * 2);
  }
}

function create({ messages }: Stream, { id, key, rangeEnd, next }: Watcher): void {
  // Members tell the revision of idle watches from time to time, so that they do not go on from an old one.
  const common = { progressNotify: true, filters: [noDelete] };
  messages.write({ create: { key, rangeEnd, startRevision: next, watchId: id, ...common } });
}

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

export type Wakeups = ReturnType<typeof wakeupsOf>;

/** Notifies subscribers: of the writes of this process at once, of those of others by watches of etcd. */
export function wakeupsOf(keys: Keys, watches: Watches) {
  const all = new Map<string, Watched>();
  const keyOf = (topic: Topic): string =>
    'queue' in topic ? keys.ready(topic.queue) : keys.task(digestOf(topic.scope, topic.taskId));

  return {
    /** Something has changed. Called after the transaction, with its revision. */
    announce(topic: Notification, revision: number): void {
      if (all.size > 0) all.get(keyOf(topic))?.notify(revision, topic.version);
    },
    async subscribe(topic: Topic, notify: (version?: number) => void): Promise<Unsubscribe> {
      const key = keyOf(topic);
      const watched = all.get(key) ?? new Watched(topic, key, watches);
      all.set(key, watched);
      const { subscribers, watch } = watched;
      const remove = subscribers.add(topic, notify);
      const unsubscribe = () => {
        void remove();
        if (!subscribers.isEmpty || all.get(key) !== watched) return;
        all.delete(key);
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
    },
  };
}

const versionOf = ({ value }: KeyValue): number => JSON.parse(String(value)).version;

/** Whether what was put into a queue can be claimed now: its key says from when. */
function isReady(folder: string, { key }: KeyValue): boolean {
  const [, time = ''] = String(key).slice(folder.length).split('/');
  // A second more: the clocks of machines differ, and an early notification does no harm.
  return time <= timeIn(Date.now() + 1_000);
}
