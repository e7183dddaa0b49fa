import type { Artifact, Message } from '@batonjs/protocol';
import { addMessage, emptyConversation } from '../facts/conversation.ts';
import { toArray, toList } from '../values/list.ts';
import { UnknownFactError } from './evolve.ts';
import { type OpenTurn, type State, type TaskRecord, toRecord, toResults } from './state.ts';
import { viewArtifact } from './view.ts';

/** Format of the snapshots this release writes. Stores give the facts in place of one with a higher number. */
export const SNAPSHOT_FORMAT = 1;

/** A state as plain JSON. Folding can start from it instead of the first fact. */
export interface Snapshot {
  readonly format: typeof SNAPSHOT_FORMAT;
  readonly version: number;
  readonly state: PlainState;
}

/** The state with plain arrays and objects where folding keeps shared ones. */
export type PlainState = Omit<State, 'conversation' | 'openTurn' | 'task'> & {
  readonly openTurn?: Omit<OpenTurn, 'steps'> & { readonly steps: Readonly<Record<string, unknown>> };
  readonly conversation: readonly Message[];
  readonly task?: Omit<TaskRecord, 'artifacts'> & { readonly artifacts: readonly Artifact[] };
};

/** The state as plain JSON. */
export function toSnapshot(state: State): Snapshot {
  const { conversation, openTurn, task, ...rest } = state;
  const plain = {
    ...rest,
    ...(openTurn && { openTurn: { ...openTurn, steps: toRecord(openTurn.steps) } }),
    conversation: toArray(conversation.messages),
    ...(task && { task: { ...task, artifacts: task.artifacts.map(viewArtifact) } }),
  };
  return { format: SNAPSHOT_FORMAT, version: state.version, state: plain };
}

/** The state of a snapshot. Throws `UnknownFactError` for a snapshot of a newer release. */
export function fromSnapshot({ format, state }: Snapshot): State {
  if (!(format <= SNAPSHOT_FORMAT))
    throw new UnknownFactError(`The snapshot has format ${format}; this release reads ${SNAPSHOT_FORMAT}`);
  const { conversation, openTurn, task, ...rest } = state;
  return {
    ...rest,
    ...(openTurn && { openTurn: { ...openTurn, steps: toResults(openTurn.steps) } }),
    conversation: conversation.reduce(addMessage, emptyConversation),
    ...(task && {
      task: {
        ...task,
        artifacts: task.artifacts.map(({ parts, ...about }) => ({ about, parts: toList(parts) })),
      },
    }),
  };
}
