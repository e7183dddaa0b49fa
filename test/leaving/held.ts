import { createHook } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AgentServer } from '@batonjs/server';
import type { Topic } from '@batonjs/store/adapter';
import { memoryStore } from '@batonjs/store-memory';
import { expect, onTestFinished, vi } from 'vitest';
import type { LiveTask } from '../../packages/server/src/log/live-task.ts';
import { LiveTasks } from '../../packages/server/src/log/live-tasks.ts';
import { change } from '../kit/faulty-store.ts';
import { eventually } from '../kit/until.ts';

/**
 * How many of each kind: subscriptions, followers, timers by the line that set them, listeners, tasks and turns,
 * connections and requests.
 */
export type Held = ReadonlyMap<string, number>;

/**
 * Counts what the packages hold until the test ends: the subscriptions of a store of its own, the followers of tasks,
 * and the timers that any line of `packages` sets, with those that let the process end.
 */
export function countHeld() {
  const topics = new Map<object, string>();
  const timers = new Map<number, { readonly what: string; readonly timer: object }>();
  const listeners: { readonly of: string; connections: number; requests: number }[] = [];
  const store = change(memoryStore(), {
    subscribe: (subscribe) => async (topic, notify) => {
      const unsubscribe = await subscribe(topic, notify);
      const one = {};
      topics.set(one, `a subscription of ${nameOf(topic)}`);
      return () => {
        topics.delete(one);
        return unsubscribe();
      };
    },
  });
  const hook = createHook({
    init(id, type, _, timer) {
      const line = type === 'Timeout' && lineOfPackages();
      if (line) timers.set(id, { what: `a timer of ${line}`, timer });
    },
    destroy: (id) => void timers.delete(id),
    // Node.js would go on tracking them in each file that comes after this one in its process.
    trackPromises: false,
  } as Parameters<typeof createHook>[0]).enable();
  const tasks = new Set<LiveTask>();
  const { open, begin } = LiveTasks.prototype;
  const spies = [
    vi.spyOn(LiveTasks.prototype, 'open').mockImplementation(async function (this: LiveTasks, ...task) {
      const live = await open.apply(this, task);
      if (live) tasks.add(live);
      return live;
    }),
    vi.spyOn(LiveTasks.prototype, 'begin').mockImplementation(function (this: LiveTasks, ...task) {
      const live = begin.apply(this, task);
      tasks.add(live);
      return live;
    }),
  ];
  onTestFinished(() => {
    hook.disable();
    for (const spy of spies) spy.mockRestore();
  });
  return {
    store,
    /** Counts the connections of a listener, and its requests that are under way. `of`: what to call them. */
    watch<Listener extends Server>(listener: Listener, of = ''): Listener {
      const count = { of, connections: 0, requests: 0 };
      listeners.push(count);
      listener.on('connection', (connection) => {
        count.connections += 1;
        connection.once('close', () => {
          count.connections -= 1;
        });
      });
      listener.on('request', (_, response) => {
        count.requests += 1;
        response.once('close', () => {
          count.requests -= 1;
        });
      });
      return listener;
    },
    /** Lets the time of the timers pass that a file sets: its path below `packages`. How many those were. */
    pass(file: string): number {
      // A timer that was cleared has no function, and is destroyed a moment later.
      const due = [...timers.values()].flatMap(({ what, timer }) => {
        const { _onTimeout: fire } = timer as { _onTimeout: (() => void) | null };
        return fire && what.startsWith(`a timer of ${file}:`)
          ? [{ timer: timer as NodeJS.Timeout, fire }]
          : [];
      });
      for (const { timer, fire } of due) {
        clearTimeout(timer);
        fire();
      }
      return due.length;
    },
    /** What is held now, by these servers too. */
    now(...servers: readonly AgentServer[]): Held {
      const counts = new Map<string, number>();
      const add = (what: string, count: number) => {
        if (count > 0) counts.set(what, (counts.get(what) ?? 0) + count);
      };
      for (const what of topics.values()) add(what, 1);
      for (const { what } of timers.values()) add(what, 1);
      for (const { of, connections, requests } of listeners) {
        add(`a connection${of}`, connections);
        add(`a request${of}`, requests);
      }
      for (const { listeners } of tasks) add('a follower', listeners.size);
      for (const { closing, load } of servers) {
        add('a listener of the end of a server', getEventListeners(closing, 'abort').length);
        add('a task', load.tasks);
        add('a turn', load.turns);
      }
      return counts;
    },
  };
}

/** What there is more of, and how much more. */
export const more = (before: Held, after: Held): Record<string, number> =>
  Object.fromEntries(
    [...after].flatMap(([what, count]) => {
      const grown = count - (before.get(what) ?? 0);
      return grown > 0 ? [[what, grown]] : [];
    }),
  );

/** Waits until there is no more of anything than before. */
export const nothingMore = (before: Held, now: () => Held): Promise<void> =>
  eventually(() => {
    const left = Object.entries(more(before, now()));
    expect(left.filter(([what, count]) => !isShared(what, count))).toEqual([]);
  });

/** All requests of a process may share one timer of a line, and all deadlines of one length share one. */
const isShared = (what: string, count: number): boolean =>
  what.startsWith('a timer') && (count === 1 || what.includes('/timing/deadline-timers.ts'));

const nameOf = (topic: Topic): string => ('queue' in topic ? 'a queue' : 'a task');

/** The line of `packages` that is closest to the caller. */
function lineOfPackages(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const { stack = '' } = new Error('Where');
  Error.stackTraceLimit = stackTraceLimit;
  // `sleep` sets timers for its callers.
  return /packages\/((?!protocol\/src\/values\/timing)[^/\s]+\/src\/[^:)\s]+:\d+)/.exec(stack)?.[1];
}
