import { A2AError, type AgentReply, ClientError, type MessageInput } from '@batonjs/client';
import { TASK_PROGRESS, TASK_TREE } from '@batonjs/extensions/client';
import type { ChildUpdate } from '@batonjs/lifecycle';
import { sleep } from '@batonjs/protocol/timing';
import type { TaskUpdate, Turn } from '@batonjs/server';
import type { Callee, Target } from '../agents/agents.ts';
import { reach, Unreachable } from '../agents/reach.ts';
import type { Call, CallOptions, CallScope, CallSettings } from '../call.ts';
import { CallError } from '../call-error.ts';
import { cancelChildren } from '../children/cancel-children.ts';
import { childCall } from '../children/child-call.ts';
import { childIn, type RecordedChild } from '../children/child-record.ts';
import { depthOf } from '../children/messages.ts';

/** An update of the task was refused: no error of the other agent. */
class Refused extends Error {
  constructor(cause: unknown) {
    super('An update was refused', { cause });
  }
}

/** How long calls may take to end before their children are canceled, in milliseconds. */
const shortlyMs = 200;

export class TurnCalls {
  /** The updates of the task that calls wrote. */
  readonly updates = new UpdateQueue();
  readonly #turn: Turn;
  readonly #settings: CallSettings;
  readonly #used = new Set<string>();
  readonly #authorizing = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();
  #signal: AbortSignal | undefined;
  #canceling: Promise<ChildUpdate[]> | undefined;

  constructor(turn: Turn, settings: CallSettings) {
    this.#turn = turn;
    this.#settings = settings;
  }

  readonly call: Call = (callee, input, options) => {
    const reply = this.#call(callee, input, options);
    // The agent may await it later, or never.
    const settled = reply.catch(() => {}).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return reply;
  };

  /**
   * Stops all calls and cancels the children that still run, for a task that ends. Resolves to these as they are then.
   * The second call gets the result of the first.
   */
  cancelRest(): Promise<ChildUpdate[]> {
    if (Object.keys(this.#turn.children).length === 0) return Promise.resolve([]);
    this.#ending.abort(this.#turn.signal.aborted ? this.#turn.signal.reason : new Error('The task ends'));
    this.#canceling ??= this.#cancelAll();
    return this.#canceling;
  }

  async #cancelAll(): Promise<ChildUpdate[]> {
    // A call may be about to learn the id of its child. Each ends with the signal, unless the agent's own code holds it.
    const done = new AbortController();
    const late = sleep(shortlyMs, done.signal);
    await Promise.race([Promise.all(this.#running), late]).finally(() => done.abort());
    return cancelChildren(this.#turn.children, this.#settings);
  }

  async #call(callee: Callee, input: MessageInput, options: CallOptions): Promise<AgentReply> {
    const { name, timeoutMs } = options;
    if (typeof name !== 'string' || name === '' || name.length > 200)
      throw new TypeError('A call needs a `name` of 1 to 200 characters');
    if (this.#used.has(name)) throw new TypeError(`The call "${name}" was used in this turn already`);
    this.#used.add(name);
    const turn = this.#turn;
    const known = childIn(turn.children, name);
    if (known?.record.reply) return known.record.reply;
    const signal = this.#turnSignal();
    signal.throwIfAborted();
    if (!known) this.#checkLimits(name);
    const late = timeoutMs === undefined ? undefined : timeoutSignal(known, timeoutMs);
    const within = late ? AbortSignal.any([signal, late]) : signal;
    try {
      const scope = this.#scope(within);
      const target = await this.#open(callee, within);
      return await childCall(scope, target, options).run(input);
    } catch (error) {
      this.#authorizing.delete(name);
      signal.throwIfAborted();
      // First: an update that waited to be written is given up with the time, too.
      if (late?.aborted) throw await this.#timedOut(name, timeoutMs!);
      if (error instanceof Refused) throw error.cause;
      throw toCallError(error, name);
    }
  }

  #open(callee: Callee, signal: AbortSignal): Promise<Target> {
    const { agents, limits } = this.#settings;
    return reach(() => agents.open(callee), { forMs: limits.unreachableMs, signal, repeatable: true });
  }

  #scope(signal: AbortSignal): CallScope {
    const emit = (update: TaskUpdate) =>
      this.updates.push(this.#withExtensions(update), signal).catch((error: unknown) => {
        throw new Refused(error);
      });
    return { ...this.#settings, turn: this.#turn, authorizing: this.#authorizing, signal, emit };
  }

  #turnSignal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const { signal } = this.#turn;
    // Down at once: the agent may not notice, and the server does not wait for it for long.
    signal.addEventListener('abort', () => {
      if (Object(signal.reason).code === 'CANCELED') void this.cancelRest();
    });
    this.#signal = AbortSignal.any([signal, this.#ending.signal]);
    return this.#signal;
  }

  #checkLimits(name: string): void {
    const { depth, calls } = this.#settings.limits;
    if (depthOf(this.#turn) >= depth)
      throw new CallError('TOO_DEEP', name, `tasks nest at most ${depth} deep`);
    const known = Object.keys(this.#turn.children).filter((each) => !this.#used.has(each));
    if (known.length + this.#used.size > calls)
      throw new CallError('TOO_MANY_CALLS', name, `a task starts at most ${calls} others`);
  }

  async #timedOut(name: string, ms: number): Promise<CallError> {
    const child = childIn(this.#turn.children, name);
    const canceled = await cancelChildren(child ? { [name]: child } : {}, this.#settings);
    const signal = this.#turnSignal();
    for (const update of canceled) await this.updates.push({ child: update }, signal);
    return new CallError('TIMEOUT', name, `its task took longer than ${ms} ms`);
  }

  /** Adds the tree and the progress of all children to a status, where the caller activated them. */
  #withExtensions(update: TaskUpdate): TaskUpdate {
    if (!('status' in update) || !update.child) return update;
    const { extensions, children } = this.#turn;
    const { name, ...child } = update.child;
    const all = { ...children, [name]: child } as Record<string, RecordedChild>;
    const progress = progressOf(Object.values(all));
    const metadata = {
      ...update.metadata,
      ...(extensions.includes(TASK_TREE) && { [TASK_TREE]: { children: shown(all) } }),
      ...(progress && extensions.includes(TASK_PROGRESS) && { [TASK_PROGRESS]: { aggregate: progress } }),
    };
    return Object.keys(metadata).length > 0 ? { ...update, metadata } : update;
  }
}

const shown = (children: Readonly<Record<string, RecordedChild>>) =>
  Object.entries(children).map(([name, { record: _, usage: __, ...child }]) => ({ name, ...child }));

/** The progress of the only child; of several, the mean in percent. Undefined if none reports any. */
function progressOf(children: readonly RecordedChild[]) {
  const reported = children.map(({ record }) => record.progress);
  if (reported.every((each) => each === undefined)) return undefined;
  if (children.length === 1) return reported[0];
  const parts = children.map(
    ({ state, record: { progress: { progress, total } = { progress: 0, total: 1 } } }) =>
      state === 'TASK_STATE_COMPLETED' ? 1 : total > 0 ? progress / total : 0,
  );
  const mean = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  return { progress: Math.round(100 * mean), total: 100 };
}

const timeoutSignal = (known: RecordedChild | undefined, ms: number): AbortSignal =>
  AbortSignal.timeout(Math.max(0, (known?.record.startedAt ?? Date.now()) + ms - Date.now()));

/** The error that the agent gets. Its message has no text of the other agent. */
function toCallError(error: unknown, name: string): unknown {
  if (CallError.is(error) || error instanceof TypeError) return error;
  if (
    error instanceof Unreachable ||
    ClientError.is(error, 'NETWORK') ||
    ClientError.is(error, 'TIMEOUT') ||
    A2AError.is(error, 'UNAVAILABLE')
  )
    return new CallError('UNREACHABLE', name, 'its agent cannot be reached', error);
  if (A2AError.is(error, 'TASK_NOT_FOUND'))
    return new CallError('TASK_LOST', name, 'its agent no longer knows the task', error);
  if (A2AError.is(error, 'INVALID_AGENT_RESPONSE') || ClientError.is(error))
    return new CallError('UNUSABLE', name, 'its agent has a card or an answer that cannot be used', error);
  if (A2AError.is(error))
    return new CallError('REFUSED', name, `its agent refused it (${error.reason})`, error);
  return error;
}

/** An update that waits to be written. */
export interface Waiting {
  readonly update: TaskUpdate;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The updates that calls want to write, in order, for the generator that yields them. */
export class UpdateQueue {
  readonly #waiting: Waiting[] = [];
  #onPush: () => void = () => {};

  /** Resolves when the update is in the log. Rejects when it is refused, and with the reason of `signal`. */
  push(update: TaskUpdate, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const abort = () => settle(reject, signal.reason);
      const settle = <T>(end: (value: T) => void, value: T) => {
        signal.removeEventListener('abort', abort);
        end(value);
      };
      signal.addEventListener('abort', abort);
      this.#waiting.push({
        update,
        resolve: () => settle(resolve, undefined),
        reject: (reason) => settle(reject, reason),
      });
      this.#onPush();
    });
  }

  shift(): Waiting | undefined {
    return this.#waiting.shift();
  }

  /** Calls `listener` at each push, and at once if updates wait. */
  onPush(listener: () => void): void {
    this.#onPush = listener;
    if (this.#waiting.length > 0) listener();
  }
}
