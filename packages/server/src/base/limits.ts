import { isObject } from '@batonjs/protocol/json';
import { withDefaults } from '@batonjs/protocol/options';

/** The sizes beyond which the server refuses with a clear error, instead of using more memory, with the defaults. */
export const defaultLimits = {
  /** Turns running at once in this process; more wait in the store's queue. Default 1,000. */
  turns: 1_000,
  /**
   * Tasks waiting for a turn; beyond it, sends are answered RESOURCE_EXHAUSTED. The store counts them in the
   * commit. Redis Cluster counts only the shard of the task there, and all shards shortly before. etcd counts shortly
   * before the commit. Default 10,000.
   */
  queuedTurns: 10_000,
  /**
   * Facts of one task, of clients and agents together; beyond it only a cancel and a terminal update are accepted.
   * Default 100,000.
   */
  factsPerTask: 100_000,
  /**
   * Bytes of one task's content, estimated; beyond it only a cancel and a terminal update of at most 64 KiB are
   * accepted. Default 256 MiB.
   */
  bytesPerTask: 256 * 1024 * 1024,
  /**
   * Bytes of what the agent of one task keeps in `turn.memory` and in steps for the whole task, estimated. Default 1 MiB.
   */
  memoryBytes: 1024 * 1024,
  /** Lines of `turn.log` that are kept with one task; later ones go to the `logger` only. 0: none. Default 1,000. */
  logLinesPerTask: 1_000,
  /** Bytes of those lines, estimated. Default 256 KiB. */
  logBytesPerTask: 256 * 1024,
  /**
   * Tokens that the models of one task may read and write, as steps and `turn.usage` report them. Beyond it, the next call
   * of a model is not made, and the task fails with RESOURCE_EXHAUSTED. Default: any number.
   */
  tokensPerTask: Number.POSITIVE_INFINITY,
  /** The same for a task with what the agents of its children report: set it where you trust them. Default: any number. */
  tokensPerTree: Number.POSITIVE_INFINITY,
  /** The same for all tasks of one context. Default: any number, and nothing is counted. */
  tokensPerContext: Number.POSITIVE_INFINITY,
  /**
   * Tokens that the models of the agent may read and write in one day of UTC, in all processes, as steps and `turn.usage`
   * report them. Beyond it, no task makes a call of a model before the next day. A number that is never reached counts
   * without a limit. Default: any number, and nothing is counted.
   */
  dailyTokens: Number.POSITIVE_INFINITY,
  /** The same for each caller. Default: any number. */
  dailyTokensPerCaller: Number.POSITIVE_INFINITY,
  /**
   * Money that these models may cost in one day, by currency: `{ USD: 50 }`. Calls without a cost in it do
   * not count. Default: any sum.
   */
  dailyCost: undefined as Money | undefined,
  /** The same for each caller. Default: any sum. */
  dailyCostPerCaller: undefined as Money | undefined,
  /** The same for one task, however long it lasts. Default: any sum. */
  costPerTask: undefined as Money | undefined,
  /** The same for one task with what the agents of its children report. Default: any sum. */
  costPerTree: undefined as Money | undefined,
  /** The same for all tasks of one context. Default: any sum. */
  costPerContext: undefined as Money | undefined,
  /** Open streams on one task in this process, those of sends included. Default 10,000. */
  followersPerTask: 10_000,
  /**
   * Bytes of one reply, estimated, and of the result of one call of `turn.context` or `turn.references`. Lists get
   * shorter pages; a task that is larger alone comes without its oldest messages, or without its artifacts, and lists
   * in its metadata which of them are missing. Default 16 MiB.
   */
  replyBytes: 16 * 1024 * 1024,
  /** How far in the future a message may be postponed, in milliseconds. Default 366 days. */
  notBeforeMs: 366 * 24 * 3_600_000,
  /** Bytes of one request's body. Default 4 MiB. */
  bodyBytes: 4 * 1024 * 1024,
  /** Levels of nesting in one request's JSON. Default 100. */
  jsonDepth: 100,
  /**
   * Values in one request's JSON, and five times the different names of its members: what they cost in time, bytes do not
   * bound. Default 100,000.
   */
  jsonValues: 100_000,
};

export type Limits = Readonly<typeof defaultLimits>;

type Money = Readonly<Record<string, number>>;
const limitsOfMoney = [
  'dailyCost',
  'dailyCostPerCaller',
  'costPerTask',
  'costPerTree',
  'costPerContext',
] as const;

/** The limits, completed. Throws `TypeError` for a limit of money that would hold for no call. */
export function completeLimits(given: Partial<Limits> | undefined): Limits {
  const limits = withDefaults(defaultLimits, given);
  for (const name of limitsOfMoney)
    if (!isMoney(limits[name] ?? {}))
      throw new TypeError(
        `\`limits.${name}\` must be numbers from 0 by currencies of three capital letters: \`{ USD: 50 }\``,
      );
  return limits;
}

const isMoney = (given: object): boolean =>
  isObject(given) &&
  Object.entries(given).every(([name, most]) => /^[A-Z]{3}$/.test(name) && (most as number) >= 0);
