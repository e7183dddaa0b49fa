import type { StoredFact } from '@batonjs/store';

type Fact = StoredFact['fact'];

/** How many facts share one text. */
const perBlock = 64;

/** Shared by all logs without blocks: each would otherwise keep an empty array. */
const none: readonly never[] = Object.freeze([]);

/** Stands between the parts of a block. Neither ids nor JSON contain it. */
const separator = '\0';

/** Facts that are objects still, with the id of the commit of each. */
interface Newest {
  readonly facts: Fact[];
  readonly commitIds: string[];
}

/**
 * The facts of one log. Readers share the newest. Older ones, and those of a closed log, are text: objects take several
 * times as much memory, and the collector visits each of them.
 */
export class Facts {
  #blocks: readonly string[] = none;
  /** Undefined once the log is closed. */
  #newest: Newest | undefined = { facts: [], commitIds: [] };
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

  push(commitId: string, fact: Fact): void {
    if (!this.#newest) throw new TypeError('The log is closed');
    const { facts, commitIds } = this.#newest;
    // A few at a time: a long log would otherwise block the process when it closes.
    if (facts.length === 2 * perBlock)
      this.#toBlock(facts.splice(0, perBlock), commitIds.splice(0, perBlock));
    facts.push(fact);
    commitIds.push(commitId);
    this.#length++;
  }

  /** Called when the last fact is there. */
  close(): void {
    if (!this.#newest) return;
    const { facts, commitIds } = this.#newest;
    if (facts.length > perBlock) this.#toBlock(facts.splice(0, perBlock), commitIds.splice(0, perBlock));
    if (facts.length > 0) this.#toBlock(facts, commitIds);
    this.#newest = undefined;
  }

  /** The fact at a position. */
  at(version: number): StoredFact | undefined {
    return this.after(version - 1, 1)[0];
  }

  /** Up to `limit` facts after a position, in order. */
  after(version: number, limit = Number.POSITIVE_INFINITY): StoredFact[] {
    const until = Math.min(version + limit, this.#length);
    const inBlocks = this.#blocks.length * perBlock;
    const found: StoredFact[] = [];
    for (let n = Math.trunc(version / perBlock); n * perBlock < until; n++) {
      const block = this.#blocks[n];
      if (block === undefined) break;
      readBlock(block, n * perBlock, version, until, found);
    }
    if (!this.#newest) return found;
    const { facts, commitIds } = this.#newest;
    for (let at = Math.max(version, inBlocks); at < until; at++)
      found.push({ version: at + 1, commitId: commitIds[at - inBlocks]!, fact: facts[at - inBlocks]! });
    return found;
  }

  #toBlock(facts: readonly Fact[], commitIds: readonly string[]): void {
    const block = blockOf(facts, commitIds);
    this.#bytes += bytesOf(block);
    // A new array of the exact length: `push` would reserve room for 16 more.
    this.#blocks = [...this.#blocks, block];
  }
}

/** How the id of its commit differs from that of the fact before, and the JSON of each fact. Empty if it is the same. */
function blockOf(facts: readonly Fact[], commitIds: readonly string[]): string {
  const parts: string[] = [];
  let last = '';
  for (let n = 0; n < facts.length; n++) {
    const commitId = commitIds[n]!;
    parts.push(commitId === last ? '' : differenceOf(commitId, last), JSON.stringify(facts[n]));
    last = commitId;
  }
  return parts.join(separator);
}

/** How much of the id before is kept, and the rest: ids of one writer end in a count. */
function differenceOf(id: string, before: string): string {
  const writer = before.slice(0, before.lastIndexOf('-') + 1);
  return id.startsWith(writer) ? `${writer.length}:${id.slice(writer.length)}` : `0:${id}`;
}

function withDifference(before: string, difference: string): string {
  if (difference === '') return before;
  const colon = difference.indexOf(':');
  return before.slice(0, Number(difference.slice(0, colon))) + difference.slice(colon + 1);
}

/** Adds the facts of a block after position `after` and up to `until`. The block begins after position `first`. */
function readBlock(block: string, first: number, after: number, until: number, facts: StoredFact[]): void {
  const parts = block.split(separator);
  let commitId = '';
  for (let n = 0; n < parts.length; n += 2) {
    const version = first + n / 2 + 1;
    if (version > until) return;
    commitId = withDifference(commitId, parts[n]!);
    if (version > after) facts.push({ version, commitId, fact: JSON.parse(parts[n + 1]!) });
  }
}

/** How many bytes the characters of a string take in memory: V8 keeps two of each unless all are Latin-1. */
export const bytesOf = (text = ''): number => (isWide.test(text) ? 2 * text.length : text.length);

const isWide = /[\u0100-\uffff]/;
