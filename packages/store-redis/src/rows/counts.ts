import type { Found } from '@batonjs/store/adapter';
import { askingStates, postponed } from '@batonjs/store/rules';
import { listOf, type RedisReply } from '../connection/driver.ts';

/** The kind of its answer, then a command. */
export type Question = readonly [kind: 'tasks' | 'hooks' | 'records' | '-', ...words: string[]];

/** Questions, and what their answers tell. */
export interface Search {
  readonly questions: readonly Question[];
  readonly found: (replies: readonly (RedisReply | undefined)[]) => Partial<Found>;
}

/** Counts what lies in a queue, each by the length of a sorted set. */
export function countsSearch(queue: string): Search {
  const asked = askingStates.map((state) => `asked:${queue}\0${state}`);
  return {
    questions: [
      ...[`later:${queue}`, `deliver:${queue}`, `dead:${queue}`, ...asked].map(
        (key) => ['-', 'ZCARD', key] as const,
      ),
      ...asked.map((key) => ['-', 'ZRANGE', key, '0', '0', 'WITHSCORES'] as const),
    ],
    found: ([later, undelivered, dead, ...replies]) => ({
      counts: {
        tasks: {
          [postponed]: Number(later),
          ...Object.fromEntries(askingStates.map((state, n) => [state, Number(replies[n])])),
        },
        askedAt: earliest(replies.slice(askingStates.length)),
        undelivered: Number(undelivered),
        dead: Number(dead),
      },
    }),
  };
}

/** The smallest of the first scores; undefined without any. */
function earliest(firsts: readonly (RedisReply | undefined)[]): number | undefined {
  const times = firsts.flatMap((first) => {
    const [, score] = listOf(first);
    return score === undefined || score === null ? [] : [Number(score)];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}
