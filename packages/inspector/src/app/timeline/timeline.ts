import type { AgentEvent } from '@batonjs/client';
import type { Entry, Notice } from '../../api/timeline.ts';
import { type Described, describeEntry } from './describe-entry.ts';
import { Replay } from './replay.ts';

/** A row of a timeline. */
export interface TimelineRow {
  readonly entry: Entry;
  readonly described: Described;
  /** The content has another shape than its type says: it is shown as JSON only. */
  readonly isUnreadable: boolean;
  /** Milliseconds since the row before. */
  readonly gapMs: number | undefined;
  /** How long what began here lasted, in milliseconds: a turn, a status. */
  durationMs?: number;
}

/** Agents may send anything. */
const unreadable: Described = { icon: 'warning', label: 'Unreadable entry', text: '', tone: 'lost' };

/** The entries of one task in order, with everything that rows show. It grows in place. */
export class Timeline {
  rows: TimelineRow[] = [];
  /** The task after all rows. */
  live = new Replay();
  /** Grows with every change. */
  version = 0;
  #lastAt: number | undefined;
  #turn: TimelineRow | undefined;
  #status: TimelineRow | undefined;

  /** The last position that was received. */
  get seq(): number {
    return this.rows.at(-1)?.entry.seq ?? 0;
  }

  add(entries: readonly Entry[]): void {
    for (const entry of entries) if (!this.#isKnown(entry)) this.#add(entry);
    this.version += 1;
  }

  clear(): void {
    this.rows = [];
    this.live = new Replay();
    this.#lastAt = undefined;
    this.#turn = undefined;
    this.#status = undefined;
    this.version += 1;
  }

  /** The task after so many rows. */
  at(count: number): Replay {
    const replay = new Replay();
    for (const { entry, isUnreadable } of this.rows.slice(0, count)) if (!isUnreadable) replay.apply(entry);
    return replay;
  }

  #add(entry: Entry): void {
    const at = entry.at === undefined ? undefined : Date.parse(entry.at);
    const gapMs = at !== undefined && this.#lastAt !== undefined ? Math.max(0, at - this.#lastAt) : undefined;
    const described = this.#read(entry);
    const row: TimelineRow = { entry, described: described ?? unreadable, isUnreadable: !described, gapMs };
    this.rows.push(row);
    if (!described) return;
    if (at === undefined) return;
    this.#lastAt = at;
    this.#measure(row, at);
  }

  /** Describes an entry and applies it to the task; undefined for one that has another shape than its type says. */
  #read(entry: Entry): Described | undefined {
    try {
      const described = describeEntry(entry);
      this.live.apply(entry);
      return described;
    } catch {
      return undefined;
    }
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

  /** After a reconnection, the same notice may come again. */
  #isKnown({ notice }: Entry): boolean {
    if (!notice || notice.type === 'connection') return false;
    const last = this.rows.findLast(({ entry }) => entry.notice && sameThing(entry.notice, notice));
    return last !== undefined && JSON.stringify(last.entry.notice) === JSON.stringify(notice);
  }
}

const sameThing = (one: Notice, other: Notice): boolean =>
  one.type === other.type && (one.type !== 'delivery' || one.id === (other as typeof one).id);
