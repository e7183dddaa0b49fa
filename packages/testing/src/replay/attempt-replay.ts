import { type Command, evolve, type Fact, type State } from '@batonjs/lifecycle';
import { decideAll, isoTime } from '@batonjs/server/turns';
import type { StoredFact } from '@batonjs/store';
import {
  type Comparison,
  describeFact,
  isNamed,
  isOrdered,
  isSameFact,
  type OrderedFact,
} from './compare-facts.ts';
import { beginsInterrupted, type RecordedAttempt } from './recording.ts';

/** What the code does otherwise than the log says. */
export type DifferenceKind =
  /** It runs a step that the log lacks. */
  | 'new-step'
  /** It does not run a step that the log has. */
  | 'lost-step'
  /** It runs a step that the log lacks in place of one that the log has. */
  | 'renamed-step'
  /** A step is kept for the whole task, and was not, or the other way round; or it is no step any more. */
  | 'changed-step'
  /** It does something else: an update, memory, a callback, a time to be woken. */
  | 'other-update'
  /** It does more. */
  | 'new-update'
  /** It does less. */
  | 'lost-update'
  /** It throws and did not, or the other way round. */
  | 'other-end'
  /** It calls something outside of a step. */
  | 'effect'
  /** It goes on with nothing for too long. */
  | 'stuck';

/** One difference between a log and the code that was run on it. */
export interface ReplayDifference {
  readonly turn: number;
  readonly attempt: number;
  /** The position of the fact in the log, where there is one. */
  readonly position?: number;
  readonly kind: DifferenceKind;
  /** A sentence. */
  readonly message: string;
}

/** The agent is not called any more: nothing that it catches or returns counts. */
export class ReplayOver extends Error {
  constructor() {
    super('The replay of the turn is over');
  }
}

interface Waiting {
  readonly index: number;
  go(): void;
}

/** The log of one attempt beside the code that runs: what was done already, what comes next, and what differs. */
export class AttemptReplay {
  readonly recorded: RecordedAttempt;
  readonly differences: ReplayDifference[] = [];
  /** The task as it was after all that is done so far. */
  state: State;
  isOver = false;
  /** How often something was done: the replay goes on while it grows. */
  progress = 0;
  /** A step that the log lacks, and what it would be called there. */
  unknown: { readonly name: string; readonly standsFor: string | undefined } | undefined;
  readonly over: Promise<void>;
  #finish: () => void = () => {};
  readonly #facts: readonly StoredFact[];
  readonly #done: boolean[];
  #folded = 0;
  /** The log does not say how it goes on after some point, although the agent ended the attempt itself. */
  isStopped = false;
  #required: number;
  readonly #comparison: Comparison;
  readonly #waiting = new Set<Waiting>();

  constructor(recorded: RecordedAttempt, comparison: Comparison) {
    this.recorded = recorded;
    this.state = recorded.before;
    this.#facts = recorded.facts;
    this.#done = recorded.facts.map(({ fact }) => !isOrdered(fact) && !isNamed(fact));
    this.#required = recorded.end.at;
    this.#comparison = comparison;
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    if (beginsInterrupted(recorded)) {
      this.#done[0] = true;
      this.#foldTo(1);
    }
    this.#settle();
  }

  /** The time of what was done last, in milliseconds since 1970. */
  get now(): number {
    return Date.parse(this.state.at);
  }

  /** Whether the agent ended this attempt itself, so that it does no more than the log says. */
  get isWhole(): boolean {
    return !this.isStopped && this.recorded.end.kind !== 'cut' && this.recorded.end.kind !== 'paused';
  }

  /** Records a difference, and ends the replay of the attempt: what follows would differ too. */
  differ(kind: DifferenceKind, message: string, index?: number): void {
    if (this.isOver) return;
    const { turn, attempt } = this.recorded;
    const position = index === undefined ? undefined : this.#facts[index]?.version;
    this.differences.push({ turn, attempt, ...(position !== undefined && { position }), kind, message });
    this.finish();
  }

  finish(): void {
    this.isOver = true;
    this.#finish();
  }

  /** The index of the first fact that the agent has not caused yet; -1 if there is none. */
  get first(): number {
    return this.find(() => true);
  }

  /** The index of the first fact that is not done and fits; -1 if there is none. */
  find(fits: (fact: Fact) => boolean): number {
    for (let index = 0; index < this.#required; index++) {
      const stored = this.#facts[index];
      if (!this.#done[index] && stored && fits(stored.fact)) return index;
    }
    return -1;
  }

  factAt(index: number): Fact | undefined {
    return this.#facts[index]?.fact;
  }

  /** Marks facts as caused, and takes over all that happened up to the first of them. */
  do(...indexes: readonly number[]): void {
    this.#mark(indexes);
    this.#settle();
  }

  #mark(indexes: readonly number[]): void {
    for (const index of indexes) this.#done[index] = true;
    this.#foldTo(Math.max(...indexes) + 1);
    this.progress++;
  }

  #foldTo(end: number): void {
    for (; this.#folded < end; this.#folded++) {
      const stored = this.#facts[this.#folded];
      if (stored) this.state = evolve(this.state, stored.fact);
    }
  }

  /** Only what comes before this fact is compared: what follows cannot be known from the log. */
  stopBefore(index: number): void {
    this.#required = Math.min(this.#required, index);
    this.isStopped = true;
    this.#settle();
  }

  /** Resolves when all that the log has before this fact is done, and marks it as done. */
  whenNext(index: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add({ index, go: resolve });
      // Not before the caller waits, or those that wait already would go on first.
      queueMicrotask(() => this.#settle());
    });
  }

  /** Lets the earliest of those go on that wait, although the log has something before. False if none waits. */
  release(): boolean {
    const [earliest] = [...this.#waiting].toSorted((one, other) => one.index - other.index);
    if (earliest) this.#go(earliest);
    return earliest !== undefined;
  }

  #go(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#mark([waiting.index]);
    // Before the next one, so that they go on in the recorded order.
    waiting.go();
    this.#settle();
  }

  #settle(): void {
    const first = this.first;
    const next = [...this.#waiting].find(({ index }) => index === first);
    if (next) {
      this.#go(next);
      return;
    }
    // Something else ended the attempt after this.
    if (first === -1 && !this.isWhole && !this.unknown) this.finish();
  }

  /** Compares what commands cause with what the log has next. Throws what the server throws for commands that it refuses. */
  write(commands: (state: State) => readonly Command[]): void {
    if (this.isOver) throw new ReplayOver();
    const next = this.find(isOrdered);
    // What came from outside before is known by then.
    if (next !== -1 && this.#isBehind(next)) this.#foldTo(next);
    const { facts } = decideAll(this.state, commands(this.state), isoTime(this.now));
    for (const fact of facts) if (isOrdered(fact)) this.#compare(fact);
  }

  /** Whether only facts stand before this one that are done. */
  #isBehind(index: number): boolean {
    return this.first === index;
  }

  #compare(produced: OrderedFact): void {
    for (;;) {
      if (this.isOver) throw new ReplayOver();
      const index = this.find(isOrdered);
      const recorded = this.factAt(index);
      if (recorded === undefined) {
        this.#goesOn(describeFact(produced));
        throw new ReplayOver();
      }
      if (isSameFact(recorded, produced, this.#comparison, this.now)) {
        this.do(index);
        return;
      }
      if (this.#isRelayed(index)) {
        this.do(index);
        continue;
      }
      this.differ(
        'other-update',
        `The agent comes to ${describeFact(produced)}, and the log has ${describeFact(recorded)}`,
        index,
      );
      throw new ReplayOver();
    }
  }

  /** The agent does more than the log has. Where the attempt was cut, it is not known what it would have done next. */
  #goesOn(what: string): void {
    const { kind, message, at } = this.recorded.end;
    if (!this.isWhole) this.finish();
    else if (kind === 'threw')
      this.differ('other-end', `The agent goes on with ${what}, and threw ${JSON.stringify(message)}`, at);
    else this.differ('new-update', `The agent goes on with ${what}, and the log ends`);
  }

  /** Whether the fact may be one that a call of another agent passed on: between the news of a child. */
  #isRelayed(index: number): boolean {
    const isChild = ({ fact }: StoredFact) => fact.type === 'child-updated';
    return this.#facts.findIndex(isChild) < index && index < this.#facts.findLastIndex(isChild);
  }

  /** The news of a child, with what was written in the same commit. */
  childFacts(name: string): number[] {
    return this.#facts.flatMap(({ fact, commitId }, index) => {
      if (fact.type !== 'child-updated' || fact.name !== name) return [];
      const next = this.#facts[index + 1];
      const isShown = next?.commitId === commitId && isOrdered(next.fact);
      return isShown && next.fact.type !== 'child-updated' ? [index, index + 1] : [index];
    });
  }
}
