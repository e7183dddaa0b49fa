import type { Counts, Work } from './counts.ts';

/**
 * The most that each may take, the request and the answer of `fetch` included. `bench --short` fails above it, in CI too. A
 * commit that raises a number says in its message what for; one that takes clearly less lowers it.
 */
export const budgets: Readonly<Record<'memory' | 'sqlite', Readonly<Record<Work, Counts>>>> = {
  memory: {
    send: {
      'bytes allocated': 124_500,
      'bytes that outlive two young collections': 6_500,
      promises: 112,
      'functions entered': 1_385,
      'values read by a schema': 32,
      'texts of JSON made': 11.2,
      'texts of JSON read': 1.2,
      commits: 4,
    },
    event: {
      'bytes allocated': 21_500,
      'bytes that outlive two young collections': 2_400,
      promises: 18.6,
      'functions entered': 246,
      'values read by a schema': 0,
      'texts of JSON made': 2.2,
      'texts of JSON read': 0.2,
      commits: 1,
    },
    step: {
      'bytes allocated': 30_500,
      'bytes that outlive two young collections': 1_200,
      promises: 10.4,
      'functions entered': 190,
      'values read by a schema': 0,
      'texts of JSON made': 2.2,
      'texts of JSON read': 1.2,
      commits: 1,
    },
  },
  sqlite: {
    send: {
      'bytes allocated': 173_000,
      'bytes that outlive two young collections': 4_500,
      promises: 126,
      'functions entered': 1_670,
      'values read by a schema': 32,
      'texts of JSON made': 10.3,
      'texts of JSON read': 4.3,
      commits: 4,
    },
    event: {
      'bytes allocated': 35_500,
      'bytes that outlive two young collections': 2_400,
      promises: 21.5,
      'functions entered': 345,
      'values read by a schema': 0,
      'texts of JSON made': 3.2,
      'texts of JSON read': 1.3,
      commits: 1,
    },
    step: {
      'bytes allocated': 44_500,
      'bytes that outlive two young collections': 1_300,
      promises: 12.5,
      'functions entered': 287,
      'values read by a schema': 0,
      'texts of JSON made': 3.2,
      'texts of JSON read': 2.3,
      commits: 1,
    },
  },
};
