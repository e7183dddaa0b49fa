import { StoreError } from '@batonjs/store';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Connections, type Member, translated } from '../cluster/connections.ts';
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
