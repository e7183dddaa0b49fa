import { type Fact, replay, type Snapshot, toSnapshot } from '@batonjs/lifecycle';
import { chunk, created, received } from './facts.ts';
import { present } from './present.ts';

/** A snapshot of a log of this many facts, two or more. */
export function snapshotAt(version: number): Snapshot {
  const chunks: Fact[] = Array.from({ length: version - 2 }, (_, n) => chunk(n + 1));
  return toSnapshot(present(replay([received(), created(), ...chunks]), 'task'));
}
