import type { Usage } from '@batonjs/lifecycle';
import type { AgentCard } from '@batonjs/protocol';
import type { OperationName } from '@batonjs/protocol/operations';
import type { QueueReading } from '@batonjs/store';

/** A call of any binding, as the server got it. */
export interface RequestStart {
  readonly operation: OperationName;
  /** The agent's own card. */
  readonly card: AgentCard;
  /** Not checked yet. Undefined while the caller is not known; then `received` brings them. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `Major.Minor` of the protocol. */
  readonly version: string;
  /** The name of the binding, such as `JSONRPC`. */
  readonly binding: string;
  /** Where the agent is reached over this binding, as a URL or `host:port`; undefined if the server does not know. */
  readonly baseUrl?: string | undefined;
  /** The network address of the client, if it is known. */
  readonly remoteAddress?: string | undefined;
}

/** Something that takes time. */
export interface Span {
  /** Calls the function in the context of the span: spans that are made inside become its children. */
  run<T>(fn: () => T): T;
}

/** Calls a function in the context of a span, if there is one. */
export const runIn = <T>(span: Span | undefined, fn: () => T): T => (span ? span.run(fn) : fn());

/** A call while it is answered. */
export interface RequestSpan extends Span {
  /** The `traceparent` of the span, to be stored with a message; undefined if there is none. W3C Trace Context §3.2. */
  readonly traceparent: string | undefined;
  /** The params of the call, if they were not there at the start. */
  received(params: Readonly<Record<string, unknown>>): void;
  /** The answer is a stream. The span ends with it. */
  streams(): void;
  /** Called with the result, or with each event of the stream. */
  saw(result: unknown): void;
  /** Called once or more; the first call counts. `error`: the one that the client gets. */
  end(error?: unknown): void;
}

/** One attempt of a turn, when the agent is called. */
export interface TurnStart {
  readonly taskId: string;
  readonly contextId: string;
  /** 1, 2, 3 … within the task. */
  readonly turn: number;
  readonly attempt: number;
  /** Why the agent is called: for a message, after `wake`, at a time, or again after its process died or it was paused. */
  readonly cause: 'message' | 'woken' | 'clock' | 'recovery';
  /** The `traceparent` of the request that sent the message. */
  readonly traceparent: string | undefined;
  /** The request that sent the message is answered by this process, which called the agent at once. */
  readonly isImmediate: boolean;
  /** Whether this process is a worker, which answers no requests. */
  readonly isWorker: boolean;
  /** Milliseconds since the message of the client, for the first attempt that it caused; otherwise undefined. */
  readonly waitedMs?: number | undefined;
}

/** How an attempt of a turn ended. */
export interface TurnEnd {
  /** The state of the task now; undefined if the log is not a task. */
  readonly state: string | undefined;
  /** Why the server stopped waiting for the agent: `fenced`, `canceled`, `deadline`, `paused` or `shutdown`. */
  readonly halted: string | undefined;
  /** What the agent threw. */
  readonly error?: unknown;
}

/** A try of a step while it runs. */
export interface StepSpan extends Span {
  /** `error`: what the step threw. */
  end(error?: unknown): void;
}

/** An attempt of a turn while it runs. */
export interface TurnSpan extends Span {
  /** The agent yielded its first update. */
  updated(): void;
  /** A step begins. `attempt`: which try of the step it is, from 1; undefined for a step that is tried once. */
  step(name: string, attempt?: number): StepSpan;
  /** The result of a step was stored by an earlier attempt. */
  replayed(name: string): void;
  /** A call of a model ended, and was not counted before. */
  used?(usage: Usage): void;
  end(end: TurnEnd): void;
}

/** One attempt to deliver an update to a webhook. */
export interface DeliveryStart {
  readonly taskId: string;
  readonly configId: string;
  /** 1, 2, 3 … of this update. */
  readonly attempt: number;
  /** The URL of the webhook. It may hold secrets. */
  readonly url: string;
  /** Milliseconds since the update was stored. */
  readonly lagMs: number;
  /** The `traceparent` of the request that started the task. */
  readonly traceparent: string | undefined;
}

/** An attempt to deliver an update while it lasts. */
export interface DeliverySpan extends Span {
  /** Headers for the webhook. */
  readonly headers: Readonly<Record<string, string>>;
  end(end: DeliveryEnd): void;
}

/** How an attempt to deliver an update ended. */
export interface DeliveryEnd {
  /** `handed_back`: the process closed in the middle of it, and another attempt follows that does not count this one. */
  readonly outcome: 'delivered' | 'failed' | 'handed_back';
  /** The status code of the webhook's answer; undefined if there was none. */
  readonly status?: number | undefined;
  /** Why it was not delivered, without secrets. */
  readonly reason?: string | undefined;
}

/** A server or worker that has started, for gauges. Nothing is read unless it is asked. */
export interface ObservedProcess {
  /** The name of its agent on the store. */
  readonly queue: string;
  /** The `version` of its options. */
  readonly version: string | undefined;
  /** How many turns may run in it; 0 where workers run them. */
  readonly turnLimit: number;
  /** How many turns run in it now, and how many tasks it has in memory. */
  load(): { readonly turns: number; readonly tasks: number };
  /** How much lies in its queue, in all processes. Rejects if the store does not answer. */
  measure(): Promise<QueueReading>;
  /**
   * How many versions have turns that wait for a process of theirs, and of how many tasks, of each version at most 100;
   * undefined if turns are pinned to none.
   */
  unserved(): Promise<{ readonly versions: number; readonly tasks: number } | undefined>;
  /** Whether it can work, and the reason if it cannot. */
  readiness(): Promise<{ readonly isReady: boolean; readonly reason?: string }>;
}

/** A kind of call of a store. */
export type StoreOperation = 'commit' | 'read' | 'list' | 'claim' | 'renew' | 'deliver';

/** A call of a store that is over. */
export interface StoreCall {
  readonly operation: StoreOperation;
  /** The `system` of the store; undefined if it has none. */
  readonly system: string | undefined;
  readonly ms: number;
  /** What it rejected with, unless the refusal is part of normal work, as that of a commit on an older log is. */
  readonly error?: unknown;
}

/**
 * What a server or worker tells about its work while it works. `@batonjs/telemetry` passes it to OpenTelemetry. What
 * a method throws is logged, and changes nothing.
 */
export interface Telemetry {
  request(start: RequestStart): RequestSpan;
  turn(start: TurnStart): TurnSpan;
  delivery(start: DeliveryStart): DeliverySpan;
  /** The ids of the span in whose context it is called, for the log; undefined if there is none. */
  active?(): { readonly traceId: string; readonly spanId: string } | undefined;
  /** Calls the function outside all spans: it begins work for many requests, in the middle of one of them. */
  detached?<T>(fn: () => T): T;
  /** A webhook was given up. */
  gaveUp(): void;
  /** A task changed its state. `from` is undefined for a new task; `code` is that with which it failed. */
  transition(from: string | undefined, to: string, code?: string): void;
  /** A `TurnEvent`, by its type. */
  turnEvent(type: string): void;
  /** A server or worker starts. The returned function is called when it has closed. */
  started?(process: ObservedProcess): () => void;
  /** Without it, calls of the store are not timed. */
  stored?(call: StoreCall): void;
}

/**
 * The updates of an agent, each made in the context of the span of its turn: an async generator does not keep the context
 * that it was created in.
 */
export function updatesIn<T>(turn: TurnSpan, updates: AsyncIterable<T>): AsyncIterableIterator<T> {
  const iterator = turn.run(() => updates[Symbol.asyncIterator]());
  let isFirst = true;
  const first = async () => {
    const result = await iterator.next();
    if (isFirst && !result.done) turn.updated();
    isFirst = false;
    return result;
  };
  const inContext: AsyncIterableIterator<T> = {
    next: () => turn.run(() => (isFirst ? first() : iterator.next())),
    return: (value) => turn.run(async () => (await iterator.return?.(value)) ?? { done: true, value }),
    ...(iterator.throw && { throw: (error) => turn.run(() => iterator.throw!(error)) }),
    [Symbol.asyncIterator]: () => inContext,
  };
  return inContext;
}

/** Calls the function of a step in the context of a span of its own. What it returns is awaited there, too. */
export async function stepIn<T>(
  turn: TurnSpan,
  name: string,
  fn: () => T | PromiseLike<T>,
  attempt?: number,
): Promise<T> {
  const step: StepSpan | undefined = turn.step(name, attempt);
  try {
    const result = await runIn(step, () => settling(fn()));
    step?.end();
    return result;
  } catch (error) {
    step?.end(error ?? new Error());
    throw error;
  }
}

/** Calls `then` at once, in the context that is active now: the query of a query builder begins with that call. */
const settling = <T>(result: T | PromiseLike<T>): T | PromiseLike<T> =>
  typeof (result as Partial<PromiseLike<T>> | null | undefined)?.then === 'function'
    ? new Promise((resolve, reject) => void (result as PromiseLike<T>).then(resolve, reject))
    : result;

/**
 * Begins work that the whole process shares. Without this, a loop would belong to the trace of the request that happened
 * to start it, for as long as it runs.
 */
export const detached = <T>(telemetry: Telemetry | undefined, fn: () => T): T =>
  telemetry?.detached ? telemetry.detached(fn) : fn();

/** The events of a stream, as its reader asks for them. */
export interface Events<Batch> {
  next(): Promise<Batch | undefined>;
  close(): void;
}

interface Shown {
  readonly events: readonly { readonly event: { readonly value: unknown } }[];
  readonly isLast: boolean;
}

/** A stream that shows its events to the span of its request, and ends it. */
export class TracedEvents<Batch extends Shown> implements Events<Batch> {
  readonly #events: Events<Batch>;
  readonly #span: RequestSpan;

  /** `first`: the events that were read already. */
  constructor(events: Events<Batch>, span: RequestSpan, first: Batch | undefined) {
    this.#events = events;
    this.#span = span;
    span.streams();
    this.#show(first);
  }

  async next(): Promise<Batch | undefined> {
    const batch = await this.#events.next();
    this.#show(batch);
    return batch;
  }

  /** A reader that leaves is no error. */
  close(): void {
    this.#span.end();
    this.#events.close();
  }

  #show(batch: Batch | undefined): void {
    for (const { event } of batch?.events ?? []) this.#span.saw(event.value);
    if (!batch || batch.isLast) this.#span.end();
  }
}
