import type { ChildUpdated, Fact } from '../facts/facts.ts';
import { isTerminal } from '../facts/states.ts';
import { answerPrefix, type State } from '../state/state.ts';
import { viewArtifact } from '../state/view.ts';
import type { Fork } from './fork.ts';

/**
 * The facts that a fork takes over after the first message, of the facts up to its point and the state there. The rest is
 * the origin's alone: failures and further attempts, a cancel request, callbacks without a value or an answer, children
 * at work. Artifacts are whole, at the end.
 */
export function reusedFacts(taken: readonly Fact[], state: State, fork: Fork): readonly Fact[] {
  const answered = new Set(taken.flatMap((fact) => answeredIn(fact) ?? []));
  const ended = new Map<string, ChildUpdated>();
  for (const fact of taken) if (fact.type === 'child-updated') ended.set(fact.name, fact);
  const reused = taken.slice(1).filter((fact) => isReused(fact, state, fork, { answered, ended }));
  const format = taken[0]?.format ?? 1;
  const artifacts = (state.task?.artifacts ?? []).map(
    (record): Fact => ({
      format,
      at: fork.at,
      type: 'artifact-updated',
      artifact: viewArtifact(record),
      append: false,
      lastChunk: true,
    }),
  );
  return [...reused, ...artifacts];
}

/** The id of the callback whose value, or whose answer of a person, the fact is. */
function answeredIn(fact: Fact): string | undefined {
  if (fact.type === 'callback-received') return fact.id;
  const id = fact.type === 'message-received' ? fact.message.messageId : '';
  return id.startsWith(answerPrefix) ? id.slice(answerPrefix.length) : undefined;
}

interface Finished {
  /** The ids of callbacks whose value or answer came. */
  readonly answered: ReadonlySet<string>;
  /** The latest fact of each child. */
  readonly ended: ReadonlyMap<string, ChildUpdated>;
}

function isReused(fact: Fact, { openTurn }: State, fork: Fork, { answered, ended }: Finished): boolean {
  switch (fact.type) {
    case 'message-received':
    case 'turn-ended':
    case 'message-taken':
    case 'woken':
    case 'wake-set':
    case 'status-changed':
    case 'memory-changed':
    case 'callback-received':
      return true;
    case 'turn-started':
      return fact.attempt === 1;
    case 'step-completed':
      return fact.turn !== openTurn?.number || !fork.forgotten?.includes(fact.name);
    case 'labels-set':
      return fork.labels === undefined;
    case 'callback-opened':
      return answered.has(fact.id);
    case 'child-updated':
      return ended.get(fact.name) === fact && fact.child.state !== undefined && isTerminal(fact.child.state);
  }
  fact satisfies { type: LeftBehind };
  return false;
}

/** A type of fact that is the origin's alone. */
type LeftBehind =
  | 'task-created'
  | 'answered'
  | 'artifact-updated'
  | 'cancel-requested'
  | 'step-failed'
  | 'turn-failed'
  | 'turn-paused'
  | 'turn-logged';
