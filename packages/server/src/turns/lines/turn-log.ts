import type { LogLine } from '@batonjs/lifecycle';
import type { TurnLog } from '../../agent/agent.ts';
import type { Logger } from '../../base/hooks/logger.ts';
import { isoTime } from '../../base/timing/clock.ts';
import { lineOf } from './line-of.ts';

/** Where lines go. */
export interface LineTarget {
  readonly logger: Logger;
  /** What the logger is told of each line: the task, the turn and the attempt. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly now: () => number;
  /** Keeps a line with the task. */
  readonly keep: (line: LogLine) => void;
}

/** The log of a turn: each line goes to the logger and to the task. */
export function createTurnLog({ logger, about, now, keep }: LineTarget): TurnLog {
  const write =
    (level: LogLine['level']) =>
    (text: string, fields?: object): void => {
      const line = String(text);
      logger(level, line, { ...(fields instanceof Error ? { error: fields } : fields), ...about });
      keep(lineOf(level, line, fields, isoTime(now())));
    };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}
