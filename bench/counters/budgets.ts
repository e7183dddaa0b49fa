import type { Store } from '../harness/places.ts';
import type { Counts, Work } from './counts.ts';

/**
 * The most that each may take, the request and the answer of `fetch` included. `bench --short` fails above it, in CI too. A
 * commit that raises a number says in its message what for; one that takes clearly less lowers it.
 */
export const budgets: Readonly<Record<'memory' | 'sqlite', Readonly<Record<Work, Counts>>>> = {
  memory: {
    send: {
      'bytes allocated': 108_500,
      'bytes that outlive two young collections': 4_500,
      promises: 75,
      'functions entered': 1_285,
      'values read by a schema': 0,
      'texts of JSON made': 11.2,
      'texts of JSON read': 1.2,
      commits: 4,
    },
    event: {
      'bytes allocated': 17_800,
      'bytes that outlive two young collections': 2_400,
      promises: 9.9,
      'functions entered': 223,
      'values read by a schema': 0,
      'texts of JSON made': 2.2,
      'texts of JSON read': 0.2,
      commits: 1,
    },
    step: {
      'bytes allocated': 14_850,
      'bytes that outlive two young collections': 1_200,
      promises: 6.3,
      'functions entered': 201,
      'values read by a schema': 0,
      'texts of JSON made': 2.2,
      'texts of JSON read': 1.2,
      commits: 1,
    },
  },
  sqlite: {
    send: {
      'bytes allocated': 173_000,
      'bytes that outlive two young collections': 2_500,
      promises: 112,
      'functions entered': 1_690,
      'values read by a schema': 0,
      'texts of JSON made': 10.3,
      'texts of JSON read': 1.2,
      commits: 4,
    },
    event: {
      'bytes allocated': 33_400,
      'bytes that outlive two young collections': 2_400,
      promises: 20.2,
      'functions entered': 331,
      'values read by a schema': 0,
      'texts of JSON made': 3.2,
      'texts of JSON read': 0.2,
      commits: 1,
    },
    step: {
      'bytes allocated': 28_600,
      'bytes that outlive two young collections': 1_300,
      promises: 12.5,
      'functions entered': 291,
      'values read by a schema': 0,
      'texts of JSON made': 3.2,
      'texts of JSON read': 1.2,
      commits: 1,
    },
  },
};

/** The most that a task of three steps, whose result is awaited, may ask of its database. */
export const trips: Readonly<Record<Exclude<Store, 'memory'>, Readonly<Record<string, number>>>> = {
  sqlite: { statements: 46, 'synced commits': 5 },
  postgres: { 'round trips': 5 },
  redis: { commands: 5 },
  etcd: { requests: 5 },
};

/**
 * The most that a function for requests and ticks has, minified, with this store. A tick with nothing due costs one read:
 * `packages/server/test/due/due.test.ts`; how often a process that begins asks its store is in `two-options.test.ts` there.
 */
export const dueHandlers = {
  postgres: { 'compressed KB': 210, modules: 310 },
  redis: { 'compressed KB': 305, modules: 1_000 },
} as const;
