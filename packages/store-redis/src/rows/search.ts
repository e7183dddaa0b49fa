import type { Found } from '@batonjs/store/adapter';
import type { RedisReply } from '../connection/driver.ts';

/** The kind of its answer, then a command. */
export type Question = readonly [kind: 'tasks' | 'hooks' | 'records' | '-', ...words: string[]];

/** Questions, and what their answers tell. */
export interface Search {
  readonly questions: readonly Question[];
  readonly found: (replies: readonly (RedisReply | undefined)[]) => Partial<Found>;
}
