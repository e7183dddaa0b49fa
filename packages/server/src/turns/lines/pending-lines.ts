import type { Command, LogLine, State } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import { isObject } from '@batonjs/protocol/json';
import type { TurnLog } from '../../agent/agent.ts';
import type { Logger } from '../../base/hooks/logger.ts';
import type { Limits } from '../../base/limits.ts';
import { type Clock, isoTime } from '../../base/timing/clock.ts';
import { checkDecided, type Decision, decideAll } from '../../log/write/decision.ts';

/** How long a line waits for a commit that carries it, in milliseconds. Then it gets one of its own. */
const longestWaitMs = 500;

/** The turn whose lines they are. */
interface LoggingTurn {
  readonly state: State;
  /** It has ended its task, or given it back. */
  readonly hasEnded: boolean;
  write(commands: () => readonly Command[]): unknown;
}

export type PendingLines = ReturnType<typeof pendingLines>;

/** Lines that an agent logged and that are in no commit yet. */
export function pendingLines(
  turn: LoggingTurn,
  { clock, options: { limits } }: { readonly clock: Clock; readonly options: { readonly limits: Limits } },
) {
  const waiting: LogLine[] = [];
  let waitingBytes = 0;
  /** No more are kept, and the log does not say so yet. */
  let isFull = false;
  let isFlushing = false;
  /** How many of the lines the latest decision has. */
  let carried = 0;
  const isWaiting = (): boolean => waiting.length > 0 || isFull;

  async function flushSoon(): Promise<void> {
    isFlushing = true;
    await clock.sleep(longestWaitMs, undefined, 'idle');
    isFlushing = false;
    try {
      if (isWaiting() && !turn.hasEnded) await turn.write(() => []);
    } catch {
      // The lines wait for the next commit, if the turn makes one.
    }
  }

  return {
    /** Keeps a line, unless the task has as many as it may have, or the turn has it no more. */
    add(line: LogLine): void {
      const { hasEnded, state } = turn;
      const { lines = 0, bytes = 0, full } = state.agent?.logged ?? {};
      if (hasEnded || state.closed || full || isFull) return;
      const weight = weigh(line);
      const { logLinesPerTask, logBytesPerTask } = limits;
      if (lines + waiting.length >= logLinesPerTask || bytes + waitingBytes + weight > logBytesPerTask)
        isFull = true;
      else {
        waiting.push(line);
        waitingBytes += weight;
      }
      if (!isFlushing) void flushSoon();
    },
    /** Decides commands with the lines before them. Throws as `decideWithin` does for the commands alone. */
    decide(state: State, commands: readonly Command[], now: string): Decision {
      carried = 0;
      if (!isWaiting() || state.closed) return decideWithin(state, commands, now, limits);
      const lines = [...waiting];
      const log: Command = { type: 'log', lines, ...(isFull && { full: true }) };
      let decision: Decision;
      try {
        decision = decideWithin(state, [log, ...commands], now, limits);
      } catch {
        // The log of the task has no room for them, or the commands are refused: then they are here, too.
        decision = decideWithin(state, commands, now, limits);
      }
      carried = lines.length;
      return decision;
    },
    /** What was decided last is in the store. */
    written({ agent }: State): void {
      for (const line of waiting.splice(0, carried)) waitingBytes -= weigh(line);
      carried = 0;
      if (agent?.logged?.full) isFull = false;
    },
  };
}

/** Decides commands. Throws as `decide` does, and for a log that they make larger than the limits. */
export function decideWithin(
  state: State | undefined,
  commands: readonly Command[],
  now: string,
  limits: Limits,
): Decision {
  const decision = decideAll(state, commands, now);
  checkDecided(decision, limits);
  return decision;
}

/** How many characters of one line are kept: of its text, and of its fields as JSON. */
const most = { text: 2_000, fields: 4_000 };

/** A line as it is kept. Never throws: to log must not make an agent fail. */
function lineOf(level: LogLine['level'], text: string, fields: object | undefined, at: string): LogLine {
  const kept = fields && jsonOf(fields);
  const isCut = text.length > most.text || kept === 'left out';
  return {
    at,
    level,
    text: text.length > most.text ? `${text.slice(0, most.text - 1).toWellFormed()}…` : text.toWellFormed(),
    ...(kept !== undefined && kept !== 'left out' && { fields: kept }),
    ...(isCut && { isCut }),
  };
}

/** The fields as JSON, errors with their message and stack. */
function jsonOf(fields: object): Readonly<Record<string, unknown>> | 'left out' {
  try {
    const json = JSON.stringify(fields instanceof Error ? { error: fields } : fields, withErrors);
    if (json.length > most.fields) return 'left out';
    const value: unknown = JSON.parse(json);
    return isObject(value) ? { ...value } : { value };
  } catch {
    return 'left out';
  }
}

function withErrors(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...value, name, message, ...(stack !== undefined && { stack: stack.slice(0, 2_000) }), cause };
}

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
