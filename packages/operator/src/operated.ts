import { A2AError } from '@batonjs/protocol/errors';
import type { AgentServer } from '@batonjs/server';
import {
  type Clock,
  type Inside,
  insideOf,
  scopeOf,
  systemClock,
  type TaskTimeouts,
} from '@batonjs/server/internals';
import { type PushConfigStore, type Scope, StoreError, type TaskStore } from '@batonjs/store';

/** The agent whose tasks an operator works on: its server in this process, or the store of its processes. */
export type Operated = AgentServer | StoredAgent;

/** An agent by its store alone: a server or worker of it carries out what concerns its turns. */
export interface StoredAgent {
  readonly store: TaskStore | (TaskStore & PushConfigStore);
  /** Its name in the store. */
  readonly name: string;
  /** Default: that of the system. */
  readonly clock?: Clock | undefined;
}

/** Whose tasks. */
export interface OfCaller {
  /** The `scope` that `authenticate` returned for the caller; without it, callers that are not authenticated. */
  readonly caller?: string | undefined;
  readonly tenant?: string | undefined;
}

type Dependencies = Inside['dependencies'];

/** Where an operator works, and how turns are queued there. Without `limits`, a fork is as large as its origin allows. */
export interface Source
  extends Pick<Dependencies, 'store' | 'clock'>,
    Partial<Pick<Dependencies, 'onEvent'>>,
    Partial<Pick<Dependencies['options'], 'schedule' | 'limits' | 'files'>> {
  readonly queue: string;
  readonly timeouts?: TaskTimeouts | undefined;
  /** Undefined if the store keeps no webhooks. */
  readonly webhooks?: PushConfigStore | undefined;
}

/** Throws `TypeError` for anything else than an agent. */
export function sourceOf(agent: Operated): Source {
  const inside = insideOf(agent);
  if (inside) {
    const { store, clock, push, onEvent, options } = inside.dependencies;
    return { ...options, store, clock, onEvent, webhooks: push?.store };
  }
  const { store, name, clock = systemClock } = agent as StoredAgent;
  if (typeof store?.commit !== 'function' || typeof name !== 'string')
    throw new TypeError('The agent must be a server of `createAgentServer`, or `{ store, name }`');
  return { store, clock, queue: name, ...('listPushConfigs' in store && { webhooks: store }) };
}

export const scopeIn = ({ queue }: Source, { caller = '', tenant }: OfCaller): Scope =>
  scopeOf(queue, tenant, { scope: caller });

/**
 * Calls again while the store does not answer or the queue is full, for so many milliseconds. Whether a call that failed
 * so was carried out is not known.
 */
export async function tried<T>(
  call: () => Promise<T>,
  clock: Pick<Clock, 'monotonic' | 'random' | 'sleep'>,
  forMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = clock.monotonic() + forMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() >= deadline || signal?.aborted) throw error;
      await clock.sleep(50 + clock.random() * 100, signal);
    }
  }
}

/** Whether the same may work in a moment. */
export const isBusy = (error: unknown): boolean =>
  StoreError.is(error, 'UNAVAILABLE') || A2AError.is(error, 'RESOURCE_EXHAUSTED');
