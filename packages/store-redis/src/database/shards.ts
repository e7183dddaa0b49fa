import type { Scope } from '@batonjs/store';
import { crc16 } from '../connection/crc16.ts';

/** A part of the tasks, all of whose keys Redis Cluster keeps in one slot. */
export interface Shard {
  /** The prefix of its keys: `baton:{3}:`. Never a key itself. */
  readonly base: string;
  /** The channel of its notifications. */
  readonly channel: string;
}

/** Finds the shard of a task. The braces make Redis Cluster hash the number between them and nothing else. */
export class Shards {
  readonly all: readonly Shard[];

  constructor(prefix: string, count: number) {
    this.all = Array.from({ length: count }, (_, n) => {
      const base = `${prefix}:{${n}}:`;
      return { base, channel: `${base}changes` };
    });
  }

  /** The shard of a task, by its id alone: a claim names no scope. */
  of(taskId: string): Shard {
    return this.at(this.all.length === 1 ? 0 : crc16(taskId) % this.all.length);
  }

  at(part: number): Shard {
    const shard = this.all[part];
    if (!shard) throw new RangeError(`There is no shard ${part} of ${this.all.length}`);
    return shard;
  }
}

/** The name of a task in keys and scripts. Neither id contains NUL. */
export const taskName = (scope: Scope, taskId: string): string => `${taskId}\0${scope}`;
