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

export type Watches = ReturnType<typeof watchesOf>;

/** All watches of a process, over one stream. After a break they go on where they were, on another member. */
export function watchesOf(connections: Connections, timeoutMs: number) {
  const watchers = new Map<number, Watcher>();
  let current: Stream | undefined;
  let isOpening = false;
  let isClosed = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let retryMs = reconnectMs.first;
  let ids = 0;
  // A member that answers no calls sends no events either, even if its connection stays open.
  connections.onLeave((member) => {
    if (member === current?.member) broken(current);
  });

  function end(watcher: Watcher): void {
    if (watchers.delete(watcher.id)) current?.messages.write({ cancel: { watchId: watcher.id } });
  }

  async function open(): Promise<void> {
    if (isOpening || current || isClosed) return;
    isOpening = true;
    const member = connections.current;
    try {
      const messages = await connections.stream(member, methods.watch, timeoutMs);
      const stream = { member, messages };
      messages.on('data', (response: WatchResponse) => receive(stream, response));
      messages.on('error', () => broken(stream));
      messages.on('end', () => broken(stream));
      if (isClosed) return void messages.cancel();
      current = stream;
      for (const watcher of watchers.values()) create(stream, watcher);
    } catch {
      openLater();
    } finally {
      isOpening = false;
    }
  }

  function receive(stream: Stream, response: WatchResponse): void {
    if (stream !== current) return;
    const { watchId, created, canceled, compactRevision, cancelReason, header, events } = response;
    // A token is forgotten by a member that was started again. A refused watch may come without its id.
    const isRefused = created && canceled && compactRevision === 0;
    if (isRefused && connections.forgetToken()) {
      broken(stream);
      return;
    }
    retryMs = reconnectMs.first;
    const watcher = watchers.get(watchId);
    if (!watcher) return;
    if (canceled) {
      watchers.delete(watchId);
      if (compactRevision > 0) goOnFromNow(stream, watcher);
      else watcher.ready.reject(refusal(cancelReason));
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
  function goOnFromNow(stream: Stream, watcher: Watcher): void {
    watcher.id = ++ids;
    watcher.next = undefined;
    watcher.isMissing = true;
    watchers.set(watcher.id, watcher);
    create(stream, watcher);
  }

  const refusal = (reason: Buffer): StoreError =>
    translated(connections.name, new Error(`A watch was refused: ${reason}`));

  function broken(stream: Stream): void {
    if (stream !== current) return;
    current = undefined;
    // What a stream says after it is given up is of no interest, its errors neither.
    stream.messages.cancel();
    connections.leave(stream.member);
    if (watchers.size > 0) openLater();
  }

  function openLater(): void {
    clearTimeout(retry);
    if (isClosed) return;
    retry = setTimeout(() => void open(), retryMs);
    retryMs = Math.min(reconnectMs.longest, retryMs * 2);
  }

  return {
    begin(options: WatchOptions): Watch {
      const ready = Promise.withResolvers<void>();
      const watcher: Watcher = { ...options, id: ++ids, next: undefined, ready, isMissing: false };
      watchers.set(watcher.id, watcher);
      const { name } = connections;
      const late = () => ready.reject(new StoreError('UNAVAILABLE', `${name} did not begin a watch in time`));
      const timer = setTimeout(late, timeoutMs);
      const stop = () => clearTimeout(timer);
      ready.promise.then(stop, stop);
      if (current) create(current, watcher);
      else void open();
      return { created: ready.promise, end: () => end(watcher) };
    },
    close(): void {
      isClosed = true;
      clearTimeout(retry);
      current?.messages.cancel();
    },
  };
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
