import type { TaskState } from '@batonjs/protocol';
import { costsWith } from '../facts/costs.ts';
import type { Costs, Fact, MessageReceived } from '../facts/facts.ts';
import { failureCodeOf, hasLabels } from '../facts/labels.ts';
import { isTerminal } from '../facts/states.ts';
import { isSeen } from '../facts/traits.ts';
import type { State } from './state.ts';

/** The members by which a task is listed and scheduled: small, of fixed size, stored beside the log. */
export interface Head {
  /** Absent until the log is a task. */
  readonly state?: TaskState;
  readonly closed: boolean;
  readonly contextId: string;
  /** Position of the fact this head was made at. Facts appended openly may follow it. */
  readonly version: number;
  /** When the status changed last, or when the agent answered; before that, when the log began. */
  readonly statusAt: string;
  /** Position of the fact that set the status or the answer; 1 until there is one. */
  readonly statusVersion: number;
  /** How many facts changed what clients see: those that `toStreamResponse` shows, and `task-created`. */
  readonly generation: number;
  /** When a task without a lease is due, by its deadline or for its next turn: ISO 8601, UTC, milliseconds. */
  readonly dueAt?: string;
  readonly turn: number;
  readonly attempt: number;
  /** Short words that the task is found by, each once. Absent without any. */
  readonly labels?: readonly string[];
  /** The ids of the skills that its messages named, each once. Absent without any. */
  readonly skills?: readonly string[];
  /** The code with which it failed. Absent without one. */
  readonly code?: string;
  /** How many milliseconds longer than others it is kept after its end; negative: shorter. Absent: as long. */
  readonly keepMs?: number;
  /** What its models cost. Absent without any, and where only an older release has written it. */
  readonly costs?: Costs;
}

type Draft = { -readonly [Name in keyof Head]: Head[Name] };

/** Folds one fact into the head. It keeps `dueAt` until the log closes. */
export function headOf(head: Head | undefined, fact: Fact): Head {
  const next: Draft = head ? { ...head } : begin(fact);
  next.version += 1;
  if (isSeen(fact)) next.generation += 1;
  switch (fact.type) {
    case 'message-received':
      if (!head) beginWith(next, fact);
      if (fact.skill !== undefined && !next.skills?.includes(fact.skill))
        next.skills = [...(next.skills ?? []), fact.skill];
      return next;
    case 'task-created':
      next.contextId = fact.contextId;
      next.state = 'TASK_STATE_SUBMITTED';
      break;
    case 'answered':
      close(next);
      break;
    case 'status-changed': {
      const { state } = fact.status;
      next.state = state;
      if (!isTerminal(state)) break;
      close(next);
      const code = failureCodeOf(fact.status);
      if (code !== undefined) next.code = code;
      break;
    }
    case 'turn-started':
      next.turn = fact.turn;
      next.attempt = fact.attempt;
      return next;
    case 'labels-set':
      next.labels = fact.labels.length > 0 ? fact.labels : undefined;
      return next;
    case 'step-completed':
      if (fact.usage?.cost !== undefined) next.costs = costsWith(next.costs, fact.usage);
      return next;
    default:
      // One of a later release comes here too: the log refuses it when it is folded.
      fact satisfies { type: Unlisted };
      return next;
  }
  next.statusAt = fact.at;
  next.statusVersion = next.version;
  return next;
}

/** A type of fact that no list of tasks depends on, besides its position. */
type Unlisted =
  | 'artifact-updated'
  | 'message-taken'
  | 'turn-ended'
  | 'woken'
  | 'wake-set'
  | 'cancel-requested'
  | 'step-failed'
  | 'turn-failed'
  | 'turn-paused'
  | 'memory-changed'
  | 'turn-logged'
  | 'callback-opened'
  | 'callback-received'
  | 'child-updated';

function beginWith(next: Draft, { message, labels }: MessageReceived): void {
  next.contextId = message.contextId ?? '';
  if (labels?.length) next.labels = labels;
}

function close(next: { closed: boolean; dueAt?: string }): void {
  next.closed = true;
  if (next.dueAt !== undefined) next.dueAt = undefined;
}

const begin = ({ at }: Fact): Head => ({
  closed: false,
  contextId: '',
  version: 0,
  statusAt: at,
  statusVersion: 1,
  generation: 0,
  turn: 0,
  attempt: 0,
});

/** Whether a head agrees with a state in each of its members. */
const agreements: {
  readonly [Name in Exclude<keyof Head, 'dueAt' | 'keepMs' | 'costs'>]: (head: Head, state: State) => boolean;
} = {
  version: (head, state) => head.version === state.version,
  state: (head, state) => head.state === state.task?.status.state,
  closed: (head, state) => head.closed === state.closed,
  contextId: (head, state) => head.contextId === state.contextId,
  generation: (head, state) => head.generation === state.generation,
  turn: (head, state) => head.turn === state.turns,
  attempt: (head, { openTurn }) => openTurn === undefined || head.attempt === openTurn.attempt,
  labels: (head, state) => hasLabels(head.labels, state.labels),
  skills: (head, state) => hasLabels(head.skills, state.skills),
  code: (head, { task }) => head.code === (task && failureCodeOf(task.status)),
  statusVersion: (head, state) => head.statusVersion === state.statusVersion,
  statusAt: (head, { task, answer, at, createdAt }) =>
    head.statusAt === (task?.status.timestamp ?? (answer ? at : createdAt)),
};

/** Whether a head is that of the state, apart from `dueAt` and `keepMs`, which the server chooses, and `costs`, as an older release does not add them up. */
export const agrees = (head: Head, state: State): boolean =>
  Object.values(agreements).every((agreesIn) => agreesIn(head, state));
