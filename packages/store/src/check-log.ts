import {
  type Fact,
  fromSnapshot,
  type Head,
  headOf,
  isTerminal,
  replay,
  type Snapshot,
  toSnapshot,
} from '@batonjs/lifecycle';
import { agrees, SNAPSHOT_FORMAT } from '@batonjs/lifecycle/internals';
import type { StoredFact } from './port/commit.ts';

/** The kind of a fault, and a sentence about it. */
type Finding = readonly ['corrupt' | 'duplicated' | 'doubleTerminal' | 'doubleTurns', string];

/** A log, from its first fact. */
interface WholeLog {
  readonly head: Head;
  readonly snapshot?: Snapshot | undefined;
  readonly facts: readonly StoredFact[];
}

/** The faults of a log, its head and its snapshot, in all that holds for every task. */
export function* checkLog(log: WholeLog): Generator<Finding> {
  yield* checkPositions(log);
  yield* checkTimes(log);
  yield* checkReplay(log);
  yield* checkEnd(log);
  yield* checkMessages(log);
  yield* checkTurns(log);
}

/** Positions count from 1, and the facts of one commit follow each other. */
function* checkPositions({ facts }: WholeLog): Generator<Finding> {
  for (const [n, { version }] of facts.entries())
    if (version !== n + 1) yield ['corrupt', `position ${version} stands where ${n + 1} should`];
  const commits = facts.map(({ commitId }) => commitId).filter((id, n, all) => id !== all[n - 1]);
  for (const id of new Set(commits.filter((id, n) => commits.indexOf(id) !== n)))
    yield ['duplicated', `commit ${id} is there more than once`];
}

/** The times of facts never go back, even if a clock did. */
function* checkTimes({ facts }: WholeLog): Generator<Finding> {
  for (const [n, { fact, version }] of facts.entries()) {
    const before = facts[n - 1]?.fact.at ?? '';
    if (fact.at < before) yield ['corrupt', `${fact.type} at ${version} is of ${fact.at}, after ${before}`];
  }
}

/** The log folds to the stored head and snapshot. */
function* checkReplay({ facts, head, snapshot }: WholeLog): Generator<Finding> {
  const all = facts.map(({ fact }) => fact);
  try {
    const state = replay(all.slice(0, head.version));
    if (!state || !agrees(head, state))
      yield ['corrupt', `the head is not that of the first ${head.version} facts`];
    const folded = all.slice(0, head.version).reduce<Head | undefined>(headOf, undefined);
    // Apart from what the server chooses, and what an older release does not add up.
    const { dueAt, keepMs, costs } = head;
    if (!same({ ...folded, dueAt, keepMs, costs }, head))
      yield ['corrupt', `the head is ${JSON.stringify(head)}, but the log says ${JSON.stringify(folded)}`];
    replay(all);
    // A snapshot of a newer release saves nothing here, and is no damage.
    if (!snapshot || snapshot.format > SNAPSHOT_FORMAT) return;
    const until = replay(all.slice(0, snapshot.version));
    if (!until || !same(toSnapshot(until), toSnapshot(fromSnapshot(snapshot))))
      yield ['corrupt', `the snapshot is not the first ${snapshot.version} facts`];
  } catch (error) {
    yield ['corrupt', `the log cannot be folded: ${error}`];
  }
}

const closes = (fact: Fact): boolean =>
  fact.type === 'answered' || (fact.type === 'status-changed' && isTerminal(fact.status.state));

/** One end, and nothing after it. */
function* checkEnd({ facts }: WholeLog): Generator<Finding> {
  const end = facts.findIndex(({ fact }) => closes(fact));
  if (end === -1) return;
  for (const { fact, version } of facts.slice(end + 1))
    yield ['doubleTerminal', `${fact.type} at ${version} follows the end at ${end + 1}`];
}

/** A client's message is in the log once. */
function* checkMessages({ facts }: WholeLog): Generator<Finding> {
  const seen = new Set<string>();
  for (const { fact, version } of facts) {
    if (fact.type !== 'message-received') continue;
    const { messageId } = fact.message;
    if (seen.has(messageId)) yield ['duplicated', `message ${messageId} is there again at ${version}`];
    seen.add(messageId);
  }
}

/** Turns follow each other, attempts count up, and the output of an agent belongs to the open attempt. */
function* checkTurns({ facts }: WholeLog): Generator<Finding> {
  let turns = 0;
  let open: { readonly turn: number; readonly attempt: number } | undefined;
  for (const { fact, version } of facts) {
    const here = `${fact.type} at ${version}`;
    if (fact.type === 'turn-started') {
      const expected = open
        ? { turn: open.turn, attempt: open.attempt + 1 }
        : { turn: turns + 1, attempt: 1 };
      if (fact.turn !== expected.turn || fact.attempt !== expected.attempt) {
        yield [
          'doubleTurns',
          `${here} is turn ${fact.turn}/${fact.attempt}, not ${expected.turn}/${expected.attempt}`,
        ];
      }
      open = fact;
      turns = fact.turn;
    } else if (fact.type === 'artifact-updated') {
      if (!open) yield ['doubleTurns', `${here} belongs to no turn`];
    } else if ('turn' in fact) {
      if (fact.turn !== open?.turn)
        yield ['doubleTurns', `${here} belongs to turn ${fact.turn}, not to ${open?.turn}`];
      if (fact.type === 'turn-ended') open = undefined;
    }
  }
}

const same = (a: unknown, b: unknown) => plain(a) === plain(b);

/** As JSON, whose members have one order. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    member && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
