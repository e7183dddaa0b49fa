import { parseJson } from '@batonjs/bindings';
import type { ServedSocket } from '@batonjs/bindings-websocket/sockets';
import { A2AError } from '@batonjs/protocol/errors';
import type { Caller, Logger } from '@batonjs/server';
import type { RawData, WebSocket } from 'ws';
import { GatewayRefusal, isFault, toWireError } from '../tasks/gateway-refusal.ts';
import { isFinal, type TaskProgressReport, wordsOf } from '../tasks/gateway-task.ts';
import type { TaskService } from '../tasks/task-service.ts';
import { type ClientFrame, requestIdIn, toFrame } from './frames.ts';
import { type TaskWatch, type TaskWatches, updatesPerRead } from './task-watches.ts';

/** Limits of one WebSocket. */
export interface SocketLimits {
  /** Tasks that one socket may subscribe to at a time. */
  readonly subscriptions: number;
  /** How long a socket may leave its updates unread before it gets the latest state of each task only, in milliseconds. */
  readonly slowMs: number;
}

/** What a socket needs. */
export interface SocketSettings extends SocketLimits {
  readonly service: TaskService;
  readonly watches: TaskWatches;
  /** Whether the gateway accepts requests. */
  readonly isOpen: () => boolean;
  readonly logger: Logger;
}

interface Subscription {
  readonly taskId: string;
  readonly watch: TaskWatch;
  readonly onChange: () => void;
  after: number;
}

/** Bytes that wait in a socket before no more are added. */
const highWater = 65_536;
/** Requests of one socket that are under way at a time. */
const mostRequests = 32;
const jsonLimits = { maxDepth: 64, maxValues: 20_000 };

/** One WebSocket: its subscriptions and its requests. Updates are read from the log when the socket can take them. */
export class UpdateSocket implements ServedSocket {
  readonly #socket: WebSocket;
  readonly #caller: Caller;
  readonly #batchMs: number;
  readonly #settings: SocketSettings;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #changed = new Set<Subscription>();
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #congestedSince: number | undefined;
  #requests = 0;
  readonly #waiting: ClientFrame[] = [];
  /** When the client sent something, or the network took an update, in milliseconds of `performance.now()`. */
  activeAt = performance.now();

  constructor(socket: WebSocket, caller: Caller, batchMs: number, settings: SocketSettings) {
    this.#socket = socket;
    this.#caller = caller;
    this.#batchMs = batchMs;
    this.#settings = settings;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#close());
    // `close` follows. A broken connection is no news.
    socket.on('error', () => {});
  }

  get isIdle(): boolean {
    return this.#subscriptions.size === 0 && this.#requests === 0;
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.activeAt = performance.now();
    if (isBinary) return void this.#socket.close(1003, 'Frames are JSON text');
    let value: unknown;
    try {
      value = parseJson(data.toString(), jsonLimits);
      const frame = toFrame(value);
      if (this.#requests < mostRequests) return void this.#begin(frame);
      // The client's next frames wait in the network; those that arrived together with this one wait here.
      this.#waiting.push(frame);
      this.#socket.pause();
    } catch (error) {
      this.#refuse(error, value);
    }
  }

  #begin(frame: ClientFrame): void {
    this.#requests += 1;
    void this.#perform(frame)
      .catch((error) => this.#refuse(error, frame))
      .finally(() => {
        this.#requests -= 1;
        const next = this.#waiting.shift();
        if (next) this.#begin(next);
        else if (this.#socket.isPaused) this.#socket.resume();
      });
  }

  async #perform(frame: ClientFrame): Promise<void> {
    const { service } = this.#settings;
    const caller = this.#caller;
    if (frame.event === 'subscribe' || frame.event === 'unsubscribe') {
      if (frame.event === 'subscribe') await this.#subscribe(frame);
      else this.#unsubscribe(frame.taskId);
      // Without a `requestId`, the updates are the reply.
      if (frame.requestId !== undefined) this.#reply(frame, { taskId: frame.taskId });
      return;
    }
    if (frame.event === 'submit') {
      const { task, isNew } = await service.submit(caller, frame.submission);
      return this.#reply(frame, { task, isNew });
    }
    const task =
      frame.event === 'cancel'
        ? await service.cancel(caller, frame.taskId)
        : await service.answer(caller, frame.taskId, frame.input);
    this.#reply(frame, { task });
  }

  async #subscribe({ taskId, after }: ClientFrame & { event: 'subscribe' }): Promise<void> {
    const { watches, service, subscriptions } = this.#settings;
    const watch = await watches.open(service.tasks.addressOf(this.#caller.scope, taskId));
    if (!watch) throw new GatewayRefusal('TASK_NOT_FOUND', 'There is no such task');
    if (this.#socket.readyState !== this.#socket.OPEN) return watches.close(watch);
    this.#unsubscribe(taskId);
    if (this.#subscriptions.size >= subscriptions) {
      watches.close(watch);
      throw new A2AError('RESOURCE_EXHAUSTED', `At most ${subscriptions} subscriptions on one socket`);
    }
    const onChange = () => {
      this.#changed.add(subscription);
      this.#flushSoon();
    };
    const subscription: Subscription = { taskId, watch, onChange, after: after ?? watch.latest.sequence - 1 };
    this.#subscriptions.set(taskId, subscription);
    watch.listeners.add(onChange);
    onChange();
  }

  #unsubscribe(taskId: string): void {
    const subscription = this.#subscriptions.get(taskId);
    if (!subscription) return;
    this.#subscriptions.delete(taskId);
    this.#changed.delete(subscription);
    subscription.watch.listeners.delete(subscription.onChange);
    this.#settings.watches.close(subscription.watch);
  }

  #flushSoon(): void {
    if (this.#batchMs === 0) return void this.#flush();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, this.#batchMs);
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#isFlushing = true;
    try {
      while (this.#changed.size > 0 && !this.#isCongested()) {
        const batch: string[] = [];
        for (const subscription of [...this.#changed]) {
          if (this.#isCongested()) break;
          this.#changed.delete(subscription);
          for (const update of await this.#next(subscription)) this.#hand(update, subscription, batch);
        }
        if (!this.#isCongested()) this.#congestedSince = undefined;
        if (batch.length > 0) this.#sendText(`{"event":"task_updates","updates":[${batch.join()}]}`);
        if (this.#batchMs > 0) break;
      }
    } catch (err) {
      this.#settings.logger('warn', 'Updates of a task could not be read', { err });
      // The client subscribes again after its last sequence.
      this.#socket.close(1011, 'Updates cannot be read');
    } finally {
      this.#isFlushing = false;
    }
    if (this.#batchMs > 0 && this.#changed.size > 0 && !this.#isCongested()) this.#flushSoon();
  }

  /** Sends an update, or adds it to the batch, unless its subscription ended in the meantime. */
  #hand(update: TaskProgressReport, subscription: Subscription, batch: string[]): void {
    const { taskId } = subscription;
    if (this.#subscriptions.get(taskId) !== subscription) return;
    subscription.after = update.sequence;
    const frame = frameOf(taskId, update);
    if (this.#batchMs === 0) this.#sendText(frame);
    else batch.push(frame);
    if (isFinal(update)) this.#unsubscribe(taskId);
  }

  /** The updates to send next: all, or the latest if the socket left them unread for too long. */
  async #next(subscription: Subscription): Promise<readonly TaskProgressReport[]> {
    const { watch, after } = subscription;
    if (
      this.#congestedSince !== undefined &&
      performance.now() - this.#congestedSince > this.#settings.slowMs
    )
      return watch.latest.sequence > after ? [watch.latest] : [];
    const updates = await watch.updatesAfter(after);
    const isCurrent = this.#subscriptions.get(subscription.taskId) === subscription;
    if (isCurrent && updates.length >= updatesPerRead) this.#changed.add(subscription);
    return updates;
  }

  /** Whether enough waits to be read by the client. Nothing more is read from the log until it has been. */
  #isCongested(): boolean {
    if (this.#socket.bufferedAmount < highWater) return false;
    this.#congestedSince ??= performance.now();
    return true;
  }

  #reply({ event, requestId }: ClientFrame, content: object): void {
    this.#send({ event: 'reply', to: event, ...(requestId !== undefined && { requestId }), ...content });
  }

  #refuse(error: unknown, frame: unknown): void {
    const shown = toWireError(error);
    const { isOpen, logger } = this.#settings;
    if (isFault(shown, isOpen())) logger('error', 'A request over a WebSocket failed', { err: error });
    const { code, message } = shown;
    const requestId = requestIdIn(frame);
    const { taskId } = Object(frame) as { taskId?: unknown };
    this.#send({
      event: 'error',
      ...(requestId !== undefined && { requestId }),
      ...(typeof taskId === 'string' && taskId.length <= 256 && { taskId }),
      error: { code, message },
    });
  }

  #send(frame: object): void {
    this.#sendText(JSON.stringify(frame));
  }

  #sendText(frame: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(frame, this.#onSent);
  }

  readonly #onSent = (): void => {
    this.activeAt = performance.now();
    if (this.#changed.size > 0 && this.#socket.bufferedAmount < highWater) this.#flushSoon();
  };

  #close(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
    for (const taskId of [...this.#subscriptions.keys()]) this.#unsubscribe(taskId);
  }
}

const frames = new WeakMap<TaskProgressReport, string>();

/** The frame of an update, made once for all sockets. Clients do not see the time of a history. */
function frameOf(taskId: string, update: TaskProgressReport): string {
  let frame = frames.get(update);
  if (frame === undefined) {
    const { status, progress, result, error, form, sequence } = update;
    const message = wordsOf(update, update.message) || undefined;
    const members = { status, progress, result, error, form, message, sequence };
    frame = JSON.stringify({ event: 'task_update', taskId, ...members });
    frames.set(update, frame);
  }
  return frame;
}
