import type { Command, LogLine, State } from '@batonjs/lifecycle';
import {
  AgentTurn,
  type Clock,
  defaultLimits,
  type Turn,
  type TurnSources,
  unsigned,
} from '@batonjs/server/turns';
import type { Scope } from '@batonjs/store';

/** What a turn without a server reads and writes. */
export interface TurnGround {
  readonly taskId: string;
  readonly state: () => State;
  /** Throws what the server throws for commands that it refuses. */
  readonly write: (commands: (state: State) => readonly Command[]) => void;
  readonly store: TurnSources['store'];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly steps: TurnSources['options']['retry']['steps'];
  readonly keep: (line: LogLine) => void;
  readonly inbox: Turn['inbox'];
}

/** The turn that a server would give to its agent, on a log that no store has. `members`: what the turn has instead of its own. */
export function turnOn(ground: TurnGround, members: Partial<Turn>): Turn {
  const { taskId, state, write, store, clock, signal, steps, keep, inbox } = ground;
  const task = {
    live: { scope: '' as Scope, taskId },
    lease: { fence: 1 },
    get state() {
      return state();
    },
    startedAt: 0,
    lines: { add: keep },
    skipsWaits: true,
    write,
    enterStep: () => void signal.throwIfAborted(),
    openInbox: () => inbox,
  };
  const options = {
    queue: '',
    callbacks: { url: 'http://localhost', keys: unsigned },
    limits: defaultLimits,
    messages: { currentStatusInHistory: false },
    retry: { steps },
  };
  const abort = {
    signal,
    get aborted() {
      return signal.aborted;
    },
    throwIfAborted: () => signal.throwIfAborted(),
  };
  const turn = new AgentTurn(task, { store, clock, logger() {}, options }, abort);
  return Object.defineProperties(turn, Object.getOwnPropertyDescriptors(members));
}
