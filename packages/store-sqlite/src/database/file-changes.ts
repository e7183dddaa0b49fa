import type { DatabaseSync } from 'node:sqlite';
import type { Subscribers } from '@batonjs/store/adapter';
import type { Changes } from '../notifications/changes.ts';
import type { TransactionHook } from '../sql/transactions.ts';

/** How many transactions the file remembers. A process that falls further behind notifies all its subscribers. */
const remembered = 1_024;

/** Writes the topics that each transaction changed to the file, and reads what other processes wrote there. */
export class FileChanges implements TransactionHook {
  readonly #changes: Changes;
  readonly #subscribers: Subscribers;
  readonly #insert;
  readonly #forgetOld;
  readonly #since;
  readonly #last;
  readonly #version;
  #sequence = 0;
  #seen = 0;
  #dataVersion: unknown;

  constructor(db: DatabaseSync, changes: Changes, subscribers: Subscribers) {
    this.#changes = changes;
    this.#subscribers = subscribers;
    this.#insert = db.prepare('INSERT INTO changes (touched) VALUES (?)');
    this.#forgetOld = db.prepare('DELETE FROM changes WHERE sequence <= ?');
    this.#since = db.prepare('SELECT sequence, touched FROM changes WHERE sequence > ? ORDER BY sequence');
    this.#last = db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM changes');
    this.#version = db.prepare('PRAGMA data_version');
  }

  /** Writes the changes of this transaction to the file, for other processes. */
  beforeCommit(): void {
    if (this.#changes.touched.size === 0) return;
    const touched: (number | null)[] = [];
    for (const [number, version] of this.#changes.touched) touched.push(number, version ?? null);
    this.#sequence = Number(this.#insert.run(JSON.stringify(touched)).lastInsertRowid);
    if (this.#sequence % 256 === 0) this.#forgetOld.run(this.#sequence - remembered);
  }

  afterCommit(): void {
    // No other process wrote in between: `refresh` need not read these changes again.
    if (this.#sequence === this.#seen + 1) this.#seen = this.#sequence;
  }

  /** Begins to follow other processes: `refresh` finds what they change from here on. */
  start(): void {
    this.#dataVersion = this.#readDataVersion();
    this.#seen = Number(this.#last.get()?.sequence);
  }

  /** Notifies of what other processes changed since the last time. Returns whether they changed anything. */
  refresh(): boolean {
    const dataVersion = this.#readDataVersion();
    if (dataVersion === this.#dataVersion) return false;
    const changes = this.#since.all(this.#seen);
    this.#dataVersion = dataVersion;
    const [first, last] = [changes[0], changes.at(-1)];
    if (!first || !last) return false;
    const missed = first.sequence !== this.#seen + 1;
    this.#seen = Number(last.sequence);
    if (missed) this.#subscribers.notifyAll();
    else for (const { touched } of changes) this.#subscribers.notifyPairs(JSON.parse(String(touched)));
    return true;
  }

  #readDataVersion(): unknown {
    return this.#version.get()?.data_version;
  }
}
