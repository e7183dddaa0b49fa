import { parseJson } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { Caller, Logger } from '@batonjs/server';
import type { RawData, WebSocket } from 'ws';
import { GatewayRefusal, isFault, toWireError } from '../tasks/gateway-refusal.ts';
import { isFinal, type TaskProgressReport, wordsOf } from '../tasks/gateway-task.ts';
import type { TaskService } from '../tasks/task-service.ts';
import { type ClientFrame, requestIdIn, toFrame } from './frames.ts';
import { type TaskWatch, type TaskWatches, updatesPerRead } from './task-watches.ts';

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
export function updateSocket(socket: WebSocket, caller: Caller, batchMs: number, settings: SocketSettings) {
  const subscribed = new Map<string, Subscription>();
  const changed = new Set<Subscription>();
  let timer: NodeJS.Timeout | undefined;
  let isFlushing = false;
  let congestedSince: number | undefined;
  let requests = 0;
  const waiting: ClientFrame[] = [];
  /** When the client sent something, or the network took an update, in milliseconds of `performance.now()`. */
  let activeAt = performance.now();
  const onSent = (): void => {
    activeAt = performance.now();
    if (changed.size > 0 && socket.bufferedAmount < highWater) flushSoon();
  };
  socket.on('message', (data, isBinary) => receive(data, isBinary));
  socket.on('close', () => close());
  // `close` follows. A broken connection is no news.
  socket.on('error', () => {});

  function receive(data: RawData, isBinary: boolean): void {
    activeAt = performance.now();
    if (isBinary) return void socket.close(1003, 'Frames are JSON text');
    let value: unknown;
    try {
      value = parseJson(data.toString(), jsonLimits);
      const frame = toFrame(value);
      if (requests < mostRequests) return void begin(frame);
      // The client's next frames wait in the network; those that arrived together with this one wait here.
      waiting.push(frame);
      socket.pause();
    } catch (error) {
      refuse(error, value);
    }
  }

  function begin(frame: ClientFrame): void {
    requests += 1;
    void perform(frame)
      .catch((error) => refuse(error, frame))
      .finally(() => {
        requests -= 1;
        const next = waiting.shift();
        if (next) begin(next);
        else if (socket.isPaused) socket.resume();
      });
  }

  async function perform(frame: ClientFrame): Promise<void> {
    const { service } = settings;
    if (frame.event === 'subscribe' || frame.event === 'unsubscribe') {
      if (frame.event === 'subscribe') await subscribe(frame);
      else unsubscribe(frame.taskId);
      // Without a `requestId`, the updates are the reply.
      if (frame.requestId !== undefined) reply(frame, { taskId: frame.taskId });
      return;
    }
    if (frame.event === 'submit') {
      const { task, isNew } = await service.submit(caller, frame.submission);
      return reply(frame, { task, isNew });
    }
    const task =
      frame.event === 'cancel'
        ? await service.cancel(caller, frame.taskId)
        : await service.answer(caller, frame.taskId, frame.input);
    reply(frame, { task });
  }

  async function subscribe({ taskId, after }: ClientFrame & { event: 'subscribe' }): Promise<void> {
    const { watches, service, subscriptions } = settings;
    const watch = await watches.open(service.tasks.addressOf(caller.scope, taskId));
    if (!watch) throw new GatewayRefusal('TASK_NOT_FOUND', 'There is no such task');
    if (socket.readyState !== socket.OPEN) return watches.close(watch);
    unsubscribe(taskId);
    if (subscribed.size >= subscriptions) {
      watches.close(watch);
      throw new A2AError('RESOURCE_EXHAUSTED', `At most ${subscriptions} subscriptions on one socket`);
    }
    const onChange = () => {
      changed.add(subscription);
      flushSoon();
    };
    const subscription: Subscription = { taskId, watch, onChange, after: after ?? watch.latest.sequence - 1 };
    subscribed.set(taskId, subscription);
    watch.listeners.add(onChange);
    onChange();
  }

  function unsubscribe(taskId: string): void {
    const subscription = subscribed.get(taskId);
    if (!subscription) return;
    subscribed.delete(taskId);
    changed.delete(subscription);
    subscription.watch.listeners.delete(subscription.onChange);
    settings.watches.close(subscription.watch);
  }

  function flushSoon(): void {
    if (batchMs === 0) return void flush();
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, batchMs);
  }

  async function flush(): Promise<void> {
    if (isFlushing || socket.readyState !== socket.OPEN) return;
    isFlushing = true;
    try {
      while (changed.size > 0 && !isCongested()) {
        const batch: string[] = [];
        for (const subscription of [...changed]) {
          if (isCongested()) break;
          changed.delete(subscription);
          for (const update of await next(subscription)) hand(update, subscription, batch);
        }
        if (!isCongested()) congestedSince = undefined;
        if (batch.length > 0) sendText(`{"event":"task_updates","updates":[${batch.join()}]}`);
        if (batchMs > 0) break;
      }
    } catch (err) {
      settings.logger('warn', 'Updates of a task could not be read', { err });
      // The client subscribes again after its last sequence.
      socket.close(1011, 'Updates cannot be read');
    } finally {
      isFlushing = false;
    }
    if (batchMs > 0 && changed.size > 0 && !isCongested()) flushSoon();
  }

  /** Sends an update, or adds it to the batch, unless its subscription ended in the meantime. */
  function hand(update: TaskProgressReport, subscription: Subscription, batch: string[]): void {
    const { taskId } = subscription;
    if (subscribed.get(taskId) !== subscription) return;
    subscription.after = update.sequence;
    const frame = frameOf(taskId, update);
    if (batchMs === 0) sendText(frame);
    else batch.push(frame);
    if (isFinal(update)) unsubscribe(taskId);
  }

  /** The updates to send next: all, or the latest if the socket left them unread for too long. */
  async function next(subscription: Subscription): Promise<readonly TaskProgressReport[]> {
    const { watch, after } = subscription;
    if (congestedSince !== undefined && performance.now() - congestedSince > settings.slowMs)
      return watch.latest.sequence > after ? [watch.latest] : [];
    const updates = await watch.updatesAfter(after);
    const isCurrent = subscribed.get(subscription.taskId) === subscription;
    if (isCurrent && updates.length >= updatesPerRead) changed.add(subscription);
    return updates;
  }

  /** Whether enough waits to be read by the client. Nothing more is read from the log until it has been. */
  function isCongested(): boolean {
    if (socket.bufferedAmount < highWater) return false;
    congestedSince ??= performance.now();
    return true;
  }

  const reply = ({ event, requestId }: ClientFrame, content: object): void =>
    void send({ event: 'reply', to: event, ...(requestId !== undefined && { requestId }), ...content });

  function refuse(error: unknown, frame: unknown): void {
    const shown = toWireError(error);
    const { isOpen, logger } = settings;
    if (isFault(shown, isOpen())) logger('error', 'A request over a WebSocket failed', { err: error });
    const { code, message } = shown;
    const requestId = requestIdIn(frame);
    const { taskId } = Object(frame) as { taskId?: unknown };
    send({
      event: 'error',
      ...(requestId !== undefined && { requestId }),
      ...(typeof taskId === 'string' && taskId.length <= 256 && { taskId }),
      error: { code, message },
    });
  }

  const send = (frame: object): void => void sendText(JSON.stringify(frame));

  function sendText(frame: string): void {
    if (socket.readyState !== socket.OPEN) return;
    socket.send(frame, onSent);
  }

  function close(): void {
    clearTimeout(timer);
    waiting.length = 0;
    for (const taskId of [...subscribed.keys()]) unsubscribe(taskId);
  }

  return {
    get activeAt() {
      return activeAt;
    },
    get isIdle(): boolean {
      return subscribed.size === 0 && requests === 0;
    },
  };
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
