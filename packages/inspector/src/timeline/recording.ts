import { type AgentClient, type AgentEvent, isTerminal, TaskView } from '@batonjs/client';
import type { Message, Task } from '@batonjs/protocol';
import type { TaskRow } from '../api/task.ts';
import type { Entry, Notice, TimelineUpdate } from '../api/timeline.ts';
import { problemOf } from '../http/reply.ts';
import { News } from '../pause.ts';
import { rowOf } from '../tasks/agent-tasks.ts';
import type { Tap } from '../wire/recorded-fetch.ts';

/** The most entries of one task that are kept. */
const mostEntries = 20_000;
/** How long a task is followed that no browser shows, in milliseconds. */
const lingerMs = 30_000;

/** Opens the stream of a task and reports what happens to its connection. */
export type OpenStream = (
  tap: Tap,
  options: { readonly signal: AbortSignal; readonly lastEventId?: string | undefined },
) => Promise<ReturnType<AgentClient['follow']>>;

/** Everything that the inspector saw of one task of an agent whose store it does not have. */
export class Recording {
  readonly id = crypto.randomUUID();
  readonly entries: Entry[] = [];
  readonly #view = new TaskView();
  readonly #readers = new Set<() => void>();
  #following: AbortController | undefined;
  #next: OpenStream | undefined;
  #lastEventId: string | undefined;
  #readerCount = 0;
  #idle: NodeJS.Timeout | undefined;
  #failure: unknown;
  #isBroken = false;
  #isReconnecting = false;

  /** The task's row; undefined before the agent showed the task. */
  get row(): TaskRow | undefined {
    return this.#view.task && rowOf(this.#view.task);
  }

  get task(): Task | undefined {
    return this.#view.task;
  }

  /** The message that the agent sent instead of a task. */
  get answer(): Message | undefined {
    return this.#view.message;
  }

  /** Why following ended, if it failed. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves once the agent showed the task, answered or failed, or after this many milliseconds. */
  async begun(ms: number): Promise<void> {
    const late = AbortSignal.timeout(ms);
    const news = new News();
    const stop = this.listen(news.notify);
    while (!this.task && !this.answer && !this.failure && !late.aborted) await news.wait(ms, late);
    stop();
  }

  get #isOver(): boolean {
    return this.#view.task !== undefined && isTerminal(this.#view.task);
  }

  /** Adds a message that was sent. */
  sent(message: Message): void {
    this.#add({ message }, new Date().toISOString());
  }

  /**
   * Follows the task until it ends. While it is followed already, the stream is opened when that one is over: the stream
   * of a message ends with a question. Never rejects: failures become part of the feed.
   */
  follow(open: OpenStream): void {
    if (this.#isOver) return;
    if (this.#following) {
      this.#next = open;
      return;
    }
    const following = new AbortController();
    this.#following = following;
    this.#failure = undefined;
    void this.#read(open, following.signal)
      .catch((error: unknown) => {
        if (!following.signal.aborted) this.#failure = error;
      })
      .finally(() => {
        clearTimeout(this.#idle);
        this.#following = undefined;
        const next = this.#next;
        this.#next = undefined;
        if (next && !this.#failure && !following.signal.aborted) this.follow(next);
        this.#notify();
      });
    if (this.#readerCount === 0) this.#linger();
  }

  /** What was recorded after an entry, and what follows. Ends when the signal aborts. */
  async *feed(
    known: { readonly after: number; readonly source: string | null },
    signal: AbortSignal,
  ): AsyncGenerator<TimelineUpdate, void, void> {
    // Numbers of another recording mean nothing in this one.
    const isRestart = known.after > 0 && known.source !== this.id;
    let seq = isRestart ? 0 : known.after;
    const news = new News();
    const stop = this.listen(news.notify);
    this.#readerCount += 1;
    clearTimeout(this.#idle);
    try {
      yield { type: 'open', source: this.id, kind: 'recording', isRestart, now: Date.now() };
      while (!signal.aborted) {
        const entries = this.entries.slice(seq);
        seq = this.entries.length;
        for (let from = 0; from < entries.length; from += 500)
          yield { type: 'entries', entries: entries.slice(from, from + 500) };
        yield this.#failure === undefined
          ? { type: 'live' }
          : { type: 'problem', message: problemOf(this.#failure).message };
        await news.wait(60_000, signal);
      }
    } finally {
      stop();
      this.#readerCount -= 1;
      if (this.#readerCount === 0) this.#linger();
    }
  }

  /** Calls the function after every change, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.#readers.add(listener);
    return () => this.#readers.delete(listener);
  }

  /** Stops following. */
  stop(): void {
    clearTimeout(this.#idle);
    this.#following?.abort();
  }

  async #read(open: OpenStream, signal: AbortSignal): Promise<void> {
    let isPolling = false;
    const stream = await open(
      {
        onRequest: ({ isStream, operation, after }) => {
          if (isStream && this.#isBroken) this.#reconnect(after);
          if (isStream || !/get/i.test(operation) || isPolling || this.#isBroken) return;
          isPolling = this.entries.length > 0;
          if (isPolling) this.#notice({ type: 'connection', link: 'agent', state: 'polling' });
        },
        onOpen: () => {
          if (!this.#isBroken) return;
          this.#isBroken = false;
          this.#isReconnecting = false;
          this.#notice({ type: 'connection', link: 'agent', state: 'resumed' });
        },
        onClose: (why) => {
          const { task } = this.#view;
          if (signal.aborted || this.#isBroken || !task || isTerminal(task) || why === undefined) return;
          this.#isBroken = true;
          this.#notice({ type: 'connection', link: 'agent', state: 'lost', why });
        },
      },
      { signal, lastEventId: this.#lastEventId },
    );
    for await (const event of stream) {
      this.#receive(event);
      this.#lastEventId = stream.lastEventId;
      if (this.entries.length >= mostEntries)
        throw new Error('The inspector keeps no more entries of this task');
    }
  }

  #receive(event: AgentEvent): void {
    const isFirst = this.#view.task === undefined;
    this.#view.apply(event);
    const { task, statusUpdate } = event;
    if (task && isFirst) this.#begin(task);
    else this.#add({ event }, statusUpdate?.status.timestamp ?? new Date().toISOString());
  }

  /** The entries of a task that had a past before the inspector saw it. */
  #begin({ id: taskId, contextId = '', history = [], artifacts = [], status }: Task): void {
    const known = new Set(this.entries.map(({ message }) => message?.messageId));
    for (const message of history) if (!known.has(message.messageId)) this.#add({ message });
    for (const artifact of artifacts)
      this.#add({ event: { artifactUpdate: { taskId, contextId, artifact } } });
    this.#add({ event: { statusUpdate: { taskId, contextId, status } } }, status.timestamp);
  }

  /** Said once per break: the stream is asked for again until the agent is back. */
  #reconnect(after: string | undefined): void {
    if (this.#isReconnecting) return;
    this.#isReconnecting = true;
    this.#notice({ type: 'connection', link: 'agent', state: 'reconnecting', ...(after && { after }) });
  }

  #notice(notice: Notice): void {
    this.#add({ notice }, new Date().toISOString());
  }

  #add(content: Omit<Entry, 'seq' | 'at'>, at?: string): void {
    this.entries.push({ seq: this.entries.length + 1, ...(at && { at }), ...structuredClone(content) });
    this.#notify();
  }

  #notify(): void {
    for (const reader of this.#readers) reader();
  }

  #linger(): void {
    // A recording that has ended, or was stopped, has nothing that the timer could end.
    if (!this.#following || this.#following.signal.aborted) return;
    this.#idle = setTimeout(() => this.#following?.abort(), lingerMs).unref();
  }
}
