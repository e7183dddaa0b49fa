import type { DatabaseSync } from 'node:sqlite';
import type { Topic } from '@batonjs/store';
import { type Bells, numberOf } from './subscribers.ts';

/** How many transactions are remembered for other processes; who comes later than that is rung for everything. */
const remembered = 1_024;

/** Topics, by number, and how long their logs are, in pairs: `[1234, 5, 678, null]`. */
type Touched = (number | null)[];

/** What each transaction changed, told to this process at once and to others through the file. */
export class Changes {
  readonly #bells: Bells;
  readonly #insert;
  readonly #forgetOld;
  readonly #since;
  readonly #last;
  readonly #version;
  #touched = new Map<number, number | undefined>();
  #sequence = 0;
  #seen = 0;
  #dataVersion: unknown;

  constructor(db: DatabaseSync, bells: Bells) {
    this.#bells = bells;
    this.#insert = db.prepare('INSERT INTO changes (touched) VALUES (?)');
    this.#forgetOld = db.prepare('DELETE FROM changes WHERE sequence <= ?');
    this.#since = db.prepare('SELECT sequence, touched FROM changes WHERE sequence > ? ORDER BY sequence');
    this.#last = db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM changes');
    this.#version = db.prepare('PRAGMA data_version');
  }

  /** Notes a change of the transaction under way. `version`: how long the log of the task is now. */
  touch(topic: Topic, version?: number): void {
    this.#touched.set(numberOf(topic), version);
  }

  /** Writes down for other processes what this transaction changed. */
  write(): void {
    if (this.#touched.size === 0) return;
    const touched: Touched = [];
    for (const [number, version] of this.#touched) touched.push(number, version ?? null);
    this.#sequence = Number(this.#insert.run(JSON.stringify(touched)).lastInsertRowid);
    if (this.#sequence % 256 === 0) this.#forgetOld.run(this.#sequence - remembered);
  }

  /** The transaction is committed: rings. */
  announce(): void {
    if (this.#touched.size === 0) return;
    const touched = this.#touched;
    this.#touched = new Map();
    // Nobody else wrote in between: `look` need not read what is announced here.
    if (this.#sequence === this.#seen + 1) this.#seen = this.#sequence;
    for (const [number, version] of touched) this.#bells.ring(number, version);
  }

  forget(): void {
    this.#touched.clear();
  }

  /** From here on `look` finds what others change. */
  start(): void {
    this.#dataVersion = this.#readDataVersion();
    this.#seen = (this.#last.get() as { sequence: number }).sequence;
  }

  /** Rings for what other processes changed since the last look. Returns whether they changed anything. */
  look(): boolean {
    const dataVersion = this.#readDataVersion();
    if (dataVersion === this.#dataVersion) return false;
    const changes = this.#since.all(this.#seen) as { sequence: number; touched: string }[];
    this.#dataVersion = dataVersion;
    const first = changes[0];
    if (!first) return false;
    const missed = first.sequence !== this.#seen + 1;
    this.#seen = changes.at(-1)!.sequence;
    if (missed) this.#bells.ringAll();
    else for (const { touched } of changes) this.#ring(JSON.parse(touched));
    return true;
  }

  #ring(touched: Touched): void {
    for (let index = 0; index < touched.length; index += 2) {
      this.#bells.ring(touched[index]!, touched[index + 1] ?? undefined);
    }
  }

  #readDataVersion(): unknown {
    return (this.#version.get() as { data_version: number }).data_version;
  }
}
