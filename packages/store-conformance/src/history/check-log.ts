import { isDeepStrictEqual } from 'node:util';
import {
  type Fact,
  fromSnapshot,
  type Head,
  headOf,
  isTerminal,
  replay,
  toSnapshot,
} from '@batonjs/lifecycle';
import { agrees } from '@batonjs/lifecycle/internals';
import type { KeptLog } from './kept-log.ts';
import type { ViolationKind } from './violation.ts';

/** The kind of a violation and its description. */
export type Finding = readonly [ViolationKind, string];

/** Positions count from 1, and the facts of one commit follow each other. */
export function* checkPositions({ facts }: KeptLog): Generator<Finding> {
  for (const [n, { version }] of facts.entries()) {
    if (version !== n + 1) yield ['corrupt', `position ${version} stands where ${n + 1} should`];
  }
  const commits = facts.map(({ commitId }) => commitId).filter((id, n, all) => id !== all[n - 1]);
  for (const id of new Set(commits.filter((id, n) => commits.indexOf(id) !== n))) {
    yield ['duplicated', `commit ${id} is there more than once`];
  }
}

/** The times of facts never go back, even if a clock did. */
export function* checkTimes({ facts }: KeptLog): Generator<Finding> {
  for (const [n, { fact, version }] of facts.entries()) {
    const before = facts[n - 1]?.fact.at ?? '';
    if (fact.at < before) yield ['corrupt', `${fact.type} at ${version} is of ${fact.at}, after ${before}`];
  }
}

/** The log folds to the stored head and snapshot. */
export function* checkReplay({ facts, head, snapshot }: KeptLog): Generator<Finding> {
  const all = facts.map(({ fact }) => fact);
  try {
    const state = replay(all.slice(0, head.version));
    if (!state || !agrees(head, state))
      yield ['corrupt', `the head is not that of the first ${head.version} facts`];
    const folded = all.slice(0, head.version).reduce<Head | undefined>(headOf, undefined);
    if (!same({ ...folded, dueAt: undefined }, { ...head, dueAt: undefined })) {
      yield ['corrupt', `the head is ${JSON.stringify(head)}, but the log says ${JSON.stringify(folded)}`];
    }
    replay(all);
    if (!snapshot) return;
    const until = replay(all.slice(0, snapshot.version));
    if (!until || !same(toSnapshot(until), toSnapshot(fromSnapshot(snapshot)))) {
      yield ['corrupt', `the snapshot is not the first ${snapshot.version} facts`];
    }
  } catch (error) {
    yield ['corrupt', `the log cannot be folded: ${error}`];
  }
}

const closes = (fact: Fact): boolean =>
  fact.type === 'answered' || (fact.type === 'status-changed' && isTerminal(fact.status.state));

/** One end, and nothing after it. */
export function* checkEnd({ facts }: KeptLog): Generator<Finding> {
  const end = facts.findIndex(({ fact }) => closes(fact));
  if (end === -1) return;
  for (const { fact, version } of facts.slice(end + 1)) {
    yield ['doubleTerminal', `${fact.type} at ${version} follows the end at ${end + 1}`];
  }
}

/** A client's message is in the log once. */
export function* checkMessages({ facts }: KeptLog): Generator<Finding> {
  const seen = new Set<string>();
  for (const { fact, version } of facts) {
    if (fact.type !== 'message-received') continue;
    const { messageId } = fact.message;
    if (seen.has(messageId)) yield ['duplicated', `message ${messageId} is there again at ${version}`];
    seen.add(messageId);
  }
}

/** Turns follow each other, attempts count up, and the output of an agent belongs to the open attempt. */
export function* checkTurns({ facts }: KeptLog): Generator<Finding> {
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

const same = (a: unknown, b: unknown) => isDeepStrictEqual(plain(a), plain(b));

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
