import type { StoredFact } from '@batonjs/store';

/** How many facts share one text. */
const perBlock = 64;

/** Shared by all logs without blocks: each would otherwise keep an empty array. */
const none: readonly never[] = Object.freeze([]);

/** Stands between the parts of a block. Neither ids nor JSON contain it. */
const separator = '\0';

/**
 * The facts of one log. The newest are objects that readers share. Older ones, and those of a closed log, are text:
 * objects take several times as much memory, and the collector visits each of them.
 */
export class Facts {
  #blocks: readonly string[] = none;
  /** Undefined once the log is closed. */
  #newest: StoredFact[] | undefined = [];
  #bytes = 0;
  #length = 0;

  /** How many bytes the text takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many there are. */
  get length(): number {
    return this.#length;
  }

  push(stored: StoredFact): void {
    if (!this.#newest) throw new TypeError('The log is closed');
    // A few at a time: a long log would otherwise block the process when it closes.
    if (this.#newest.length === 2 * perBlock) this.#toBlock(this.#newest.splice(0, perBlock));
    this.#newest.push(stored);
    this.#length++;
  }

  /** Called when the last fact is there. */
  close(): void {
    const newest = this.#newest ?? none;
    if (newest.length > perBlock) this.#toBlock(newest.slice(0, perBlock));
    if (newest.length > 0) this.#toBlock(newest.length > perBlock ? newest.slice(perBlock) : newest);
    this.#newest = undefined;
  }

  /** The fact at a position. */
  at(version: number): StoredFact | undefined {
    return this.after(version - 1, 1)[0];
  }

  /** Up to `limit` facts after a position, in order. */
  after(version: number, limit = Number.POSITIVE_INFINITY): StoredFact[] {
    const until = version + limit;
    const inBlocks = this.#blocks.length * perBlock;
    const facts: StoredFact[] = [];
    for (let n = Math.trunc(version / perBlock); n * perBlock < until; n++) {
      const block = this.#blocks[n];
      if (block === undefined) break;
      readBlock(block, n * perBlock, version, until, facts);
    }
    if (!this.#newest || until <= inBlocks) return facts;
    const newest = this.#newest.slice(Math.max(0, version - inBlocks), until - inBlocks);
    return facts.length === 0 ? newest : [...facts, ...newest];
  }

  #toBlock(facts: readonly StoredFact[]): void {
    const block = blockOf(facts);
    this.#bytes += bytesOf(block);
    // A new array of the exact length: `push` would reserve room for 16 more.
    this.#blocks = [...this.#blocks, block];
  }
}

/** The id of its commit and the JSON of each fact. The id is empty if it is that of the fact before. */
function blockOf(facts: readonly StoredFact[]): string {
  const parts: string[] = [];
  let last: string | undefined;
  for (const { commitId, fact } of facts) {
    parts.push(commitId === last ? '' : commitId, JSON.stringify(fact));
    last = commitId;
  }
  return parts.join(separator);
}

/** Adds the facts of a block after position `after` and up to `until`. The block begins after position `first`. */
function readBlock(block: string, first: number, after: number, until: number, facts: StoredFact[]): void {
  const parts = block.split(separator);
  let commitId = '';
  for (let n = 0; n < parts.length; n += 2) {
    const version = first + n / 2 + 1;
    if (version > until) return;
    commitId = parts[n] || commitId;
    if (version > after) facts.push({ version, commitId, fact: JSON.parse(parts[n + 1]!) });
  }
}

/** How many bytes the characters of a string take in memory: V8 keeps two of each unless all are Latin-1. */
export const bytesOf = (text = ''): number => (isWide.test(text) ? 2 * text.length : text.length);

const isWide = /[\u0100-\uffff]/;
