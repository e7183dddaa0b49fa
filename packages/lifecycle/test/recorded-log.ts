import { type Fact, type Head, type Snapshot, type State, toSnapshot, viewTask } from '@batonjs/lifecycle';

/** What a log means: the task as clients see it, and what is left to do. */
export type Meaning = ReturnType<typeof meaningOf>;

/** A log as a release stored it, and what it meant then. */
export interface RecordedLog extends Meaning {
  readonly facts: readonly Fact[];
  readonly head: Head;
  /** Taken somewhere inside the log. */
  readonly snapshot: Snapshot;
}

export function meaningOf(state: State) {
  const { openTurn } = toSnapshot(state).state;
  const { answer, cancelRequested, woken, wakeAt, children, agent, labels } = state;
  const messages = { pending: idsOf(state.pending), taken: idsOf(state.taken) };
  const whole = state.task && viewTask(state, { currentStatusInHistory: true });
  return {
    task: state.task && viewTask(state),
    historyWithCurrentStatus: whole?.history,
    answer,
    work: { ...messages, openTurn, cancelRequested, woken, wakeAt, children, agent, labels },
  };
}

const idsOf = (messages: State['taken']) => messages.map(({ message }) => message.messageId);
