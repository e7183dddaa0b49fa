import type { AgentEvent } from '@batonjs/client';
import type { Artifact } from '@batonjs/protocol';
import type { Entry } from '../../api/timeline.ts';
import { type Described, describeEntry } from './describe-entry.ts';
import { Replay } from './replay.ts';

/** Agents may send anything. */
const unreadable: Described = { icon: 'warning', label: 'Unreadable entry', text: '', tone: 'lost' };

export class TimelineRow {
  readonly entry: Entry;
  /** The content has another shape than its type says: it is shown as JSON only. */
  readonly isUnreadable: boolean;
  /** How long what began here lasted, in milliseconds: a turn, a status. */
  durationMs?: number;
  #described: Described | undefined;

  constructor(entry: Entry, isUnreadable: boolean) {
    this.entry = entry;
    this.isUnreadable = isUnreadable;
  }

  /** The entry in words, made when the row is drawn: most rows of a long task never are. */
  get described(): Described {
    this.#described ??= this.isUnreadable ? unreadable : describe(this.entry);
    return this.#described;
  }
}

function describe(entry: Entry): Described {
  try {
    return describeEntry(entry);
  } catch {
    return unreadable;
  }
}

/** The task as it was after so many rows. */
interface Saved {
  readonly count: number;
  readonly replay: Replay;
}

/** The fewest rows between two saved states, and the part of all rows that lies between them in a long task. */
const savedEvery = 500;
const savedPart = 16;

/** The entries of one task in order, with everything that rows show. It grows in place. */
export class Timeline {
  rows: TimelineRow[] = [];
  /** The task after all rows. */
  live = new Replay();
  /** Grows with every change. */
  version = 0;
  #saved: Saved[] = [];
  #turn: TimelineRow | undefined;
  #status: TimelineRow | undefined;

  /** The last position that was received. */
  get seq(): number {
    return this.rows.at(-1)?.entry.seq ?? 0;
  }

  add(entries: readonly Entry[]): void {
    for (const entry of entries) this.#add(entry);
    this.version += 1;
  }

  clear(): void {
    this.rows = [];
    this.live = new Replay();
    this.#saved = [];
    this.#turn = undefined;
    this.#status = undefined;
    this.version += 1;
  }

  /** The task after so many rows. Its cost does not grow with the task: it starts at a saved state. */
  at(count: number): Replay {
    const saved = this.#saved.findLast((each) => each.count <= count);
    const replay = saved ? saved.replay.copy() : new Replay();
    for (const { entry, isUnreadable } of this.rows.slice(saved?.count ?? 0, count))
      if (!isUnreadable) replay.apply(entry);
    return replay;
  }

  #add(entry: Entry): void {
    const isUnreadable = !this.#apply(entry);
    const at = entry.at === undefined ? undefined : Date.parse(entry.at);
    const place = this.#placeOf(entry, at);
    const row = new TimelineRow(entry, isUnreadable);
    if (place < this.rows.length) this.#saved = this.#saved.filter(({ count }) => count <= place);
    this.rows.splice(place, 0, row);
    this.#save();
    if (isUnreadable || at === undefined) return;
    this.#measure(row, at);
  }

  /** Applies an entry to the task. Returns false for one that has another shape than its type says. */
  #apply(entry: Entry): boolean {
    if (entry.notice) return true;
    try {
      this.live.apply(entry);
      return true;
    } catch {
      return false;
    }
  }

  /** Facts of the time without a connection arrive after the notice that it is back: they stand before it. */
  #placeOf({ notice }: Entry, at: number | undefined): number {
    let place = this.rows.length;
    if (notice || at === undefined) return place;
    while (place > 0) {
      const before = this.rows[place - 1]?.entry;
      if (!before?.notice || before.at === undefined || Date.parse(before.at) <= at) break;
      place -= 1;
    }
    return place;
  }

  #save(): void {
    const count = this.rows.length;
    const { count: last = 0 } = this.#saved.at(-1) ?? {};
    if (count - last >= Math.max(savedEvery, count / savedPart))
      this.#saved.push({ count, replay: this.live.copy() });
  }

  /** Ends what lasted until this row. */
  #measure(row: TimelineRow, at: number): void {
    const { fact, event } = row.entry;
    const since = ({ entry }: TimelineRow) => Math.max(0, at - Date.parse(entry.at!));
    if (fact?.type === 'turn-started') this.#turn = row;
    if (fact?.type === 'turn-ended' && this.#turn) {
      this.#turn.durationMs = since(this.#turn);
      this.#turn = undefined;
    }
    if (fact?.type !== 'status-changed' && !(event as AgentEvent | undefined)?.statusUpdate) return;
    if (this.#status) this.#status.durationMs = since(this.#status);
    this.#status = row;
  }
}

/** A row of the list: one entry, or several chunks of one artifact in a row. */
export interface ListedRow {
  readonly row: TimelineRow;
  /** The index of the entry; of several the last one. */
  readonly index: number;
  /** The first of several chunks. */
  readonly first?: TimelineRow;
  /** How many chunks it stands for, if several. */
  readonly chunks?: number;
}

/**
 * The rows of the entries that are shown. With `folds`, chunks of one artifact that follow each other are one row, which
 * shows the last of them.
 */
export function listRows(
  rows: readonly TimelineRow[],
  isShown: (row: TimelineRow) => boolean,
  folds: boolean,
): readonly ListedRow[] {
  const listed: ListedRow[] = [];
  let latest: string | undefined;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!;
    if (!isShown(row)) continue;
    const artifact = folds ? chunkOf(row)?.artifactId : undefined;
    const before = artifact !== undefined && artifact === latest ? listed.pop() : undefined;
    const folded = before && { first: before.first ?? before.row, chunks: (before.chunks ?? 1) + 1 };
    listed.push({ row, index, ...folded });
    latest = artifact;
  }
  return listed;
}

/** The artifact that an entry sends, or what it adds to one. */
export function chunkOf({ entry: { fact, event } }: TimelineRow): Artifact | undefined {
  if (fact) return fact.type === 'artifact-updated' ? fact.artifact : undefined;
  return (event as AgentEvent | undefined)?.artifactUpdate?.artifact;
}
