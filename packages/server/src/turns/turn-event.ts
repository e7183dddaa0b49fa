import type { Logger } from '../base/hooks/logger.ts';

/** Something happened to a turn, written by this process or not, that is no change of its task's state. */
export interface TurnEvent {
  /**
   * - `taken-over`: this process claimed the task after the lease of the process that ran the turn had expired.
   * - `rerun`: this process runs the agent again for a turn that was left open.
   * - `lost`: this process may no longer write the task in the middle of a turn; further updates of the agent are refused.
   * - `failed`: the agent threw, and another attempt follows.
   * - `cancel-forced`: the task was canceled and its agent did not stop within `timeouts.cancelGraceMs`.
   */
  readonly type: 'taken-over' | 'rerun' | 'lost' | 'failed' | 'cancel-forced';
  readonly taskId: string;
  readonly contextId: string;
  /** The attempt that this is about: the lost one, the new one, the canceled one. From 1. */
  readonly attempt: number;
  /** How many attempts of a turn there may be: 1 under `restart: 'fail'`; of `failed`, how often the agent may throw. */
  readonly maxAttempts: number;
}

const messages: Readonly<Record<Exclude<TurnEvent['type'], 'failed'>, string>> = {
  'taken-over': 'A turn was taken over: the lease of its process expired',
  rerun: 'A turn is run again',
  lost: 'A turn lost its task',
  'cancel-forced': 'A canceled agent did not stop in time',
};

/** Logs an event of a turn at `warn`. A failure was logged with its error. */
export function logTurnEvent(logger: Logger, { type, ...details }: TurnEvent): void {
  if (type !== 'failed') logger('warn', messages[type], details);
}
