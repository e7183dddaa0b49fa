import { StoreError } from '@batonjs/store';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Connections, Method } from '../cluster/connections.ts';
import { translated } from '../cluster/etcd-error.ts';
import { type KeyValue, type WatchResponse, watchRequest, watchResponse } from '../wire/messages.ts';

const method: Method = {
  path: '/etcdserverpb.Watch/Watch',
  request: watchRequest,
  response: watchResponse,
};

/** The filter that leaves out deletions. */
const noDelete = 1;

/** The waits before a broken stream is opened again, in milliseconds. */
const reconnectMs = { first: 20, longest: 1_000 };

/** A key to watch, or a range of keys. */
export interface WatchOptions {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly onEvent: (kept: KeyValue) => void;
  /** Events were missed: they are compacted away. */
  readonly onMissed: () => void;
}

export interface Watch {
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

type Stream = ClientDuplexStream<object, WatchResponse>;

/** All watches of a process, over one stream. After a break they go on where they were, on another member. */
export class Watches {
  readonly #connections: Connections;
  readonly #timeoutMs: number;
  readonly #watchers = new Map<number, Watcher>();
  #stream: Stream | undefined;
  #member = 0;
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
      if (this.#stream && member === this.#member) this.#broken(this.#stream);
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
    if (this.#stream) this.#create(this.#stream, watcher);
    else void this.#open();
    return { created: ready.promise, end: () => this.#end(watcher) };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#stream?.cancel();
  }

  #end(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher.id)) return;
    this.#stream?.write({ cancel: { watchId: watcher.id } });
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.#stream || this.#isClosed) return;
    this.#isOpening = true;
    const member = this.#connections.current;
    try {
      const metadata = await this.#connections.metadata(member, this.#timeoutMs);
      if (this.#isClosed) return;
      // A member that is cut off from the leader ends the stream instead of being silent.
      metadata.set('hasleader', 'true');
      const stream: Stream = this.#connections.stream(member, method, metadata);
      this.#stream = stream;
      this.#member = member;
      stream.on('data', (response: WatchResponse) => this.#receive(stream, response));
      stream.on('error', () => this.#broken(stream));
      stream.on('end', () => this.#broken(stream));
      for (const watcher of this.#watchers.values()) this.#create(stream, watcher);
    } catch {
      this.#openLater();
    } finally {
      this.#isOpening = false;
    }
  }

  #create(stream: Stream, { id, key, rangeEnd, next }: Watcher): void {
    stream.write({
      create: {
        key,
        rangeEnd,
        startRevision: next,
        // Members tell the revision of idle watches from time to time, so that they do not go on from an old one.
        progressNotify: true,
        filters: [noDelete],
        watchId: id,
      },
    });
  }

  #receive(stream: Stream, response: WatchResponse): void {
    if (stream !== this.#stream) return;
    const { watchId = 0, created, canceled, compactRevision, cancelReason, header, events } = response;
    // A token is forgotten by a member that was started again. A refused watch may come without its id.
    const isRefused = created && canceled && !compactRevision;
    if (isRefused && this.#connections.forgetToken()) {
      this.#broken(stream);
      return;
    }
    this.#retryMs = reconnectMs.first;
    const watcher = this.#watchers.get(watchId);
    if (!watcher) return;
    if (canceled) {
      if (compactRevision) this.#goOnFromNow(stream, watcher);
      else this.#refused(watcher, String(cancelReason ?? ''));
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
    this.#watchers.delete(watcher.id);
    watcher.id = ++this.#ids;
    watcher.next = undefined;
    watcher.isMissing = true;
    this.#watchers.set(watcher.id, watcher);
    this.#create(stream, watcher);
  }

  #refused(watcher: Watcher, reason: string): void {
    this.#watchers.delete(watcher.id);
    watcher.ready.reject(translated(this.#connections.name, new Error(`A watch was refused: ${reason}`)));
  }

  #broken(stream: Stream): void {
    if (stream !== this.#stream) return;
    this.#stream = undefined;
    // What a stream says after it is given up is of no interest, its errors neither.
    stream.cancel();
    this.#connections.leave(this.#member);
    if (this.#watchers.size > 0) this.#openLater();
  }

  #openLater(): void {
    clearTimeout(this.#retry);
    if (this.#isClosed) return;
    this.#retry = setTimeout(() => void this.#open(), this.#retryMs);
    this.#retryMs = Math.min(reconnectMs.longest, this.#retryMs * 2);
  }
}
