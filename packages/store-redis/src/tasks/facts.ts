import { diverged, parseFact, type Scope, type StoredFact, type StoredLog, StoreError } from '@batonjs/store';
import type { Database } from '../database/database.ts';
import { script } from '../database/script.ts';
import { taskName } from '../database/shards.ts';
import { load as source } from '../lua/load.ts';
import { read as readSource } from '../lua/read.ts';

const loadScript = script(source);
const readScript = script(readSource);

/** How many facts one command reads: Redis serves no other client meanwhile. */
const batch = 500;

type Loaded = readonly [
  version: number,
  head: string,
  snapshot: string | null,
  from: number,
  entries: readonly string[],
];

/** Reads logs. A long log is read in batches. */
export class Facts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async load(scope: Scope, taskId: string): Promise<StoredLog | undefined> {
    const name = taskName(scope, taskId);
    const loaded = (await this.#database.ofTask(loadScript, taskId, name, [String(batch)])) as Loaded | null;
    if (!loaded) return undefined;
    const [version, head, snapshot, from, entries] = loaded;
    const facts = entries.map((entry, n) => toFact(entry, from + n + 1));
    // Facts never change: those read later up to this version existed when the first ones were read.
    while (facts.length < version - from) {
      const more = await this.#read(name, taskId, from + facts.length, version - from - facts.length);
      // The log was deleted meanwhile.
      if (more.length === 0) return undefined;
      for (const fact of more) facts.push(fact);
    }
    return {
      head: JSON.parse(head),
      version,
      facts,
      ...(snapshot !== null && { snapshot: JSON.parse(snapshot) }),
    };
  }

  async read(
    scope: Scope,
    taskId: string,
    after: number,
    limit: number,
    lastCommitId?: string,
  ): Promise<readonly StoredFact[]> {
    const name = taskName(scope, taskId);
    const facts =
      lastCommitId === undefined
        ? await this.#read(name, taskId, after, limit)
        : await this.#readOn(name, taskId, after, limit, lastCommitId);
    while (facts.length > 0 && facts.length % batch === 0 && facts.length < limit) {
      const more = await this.#read(name, taskId, after + facts.length, limit - facts.length);
      if (more.length === 0) break;
      for (const fact of more) facts.push(fact);
    }
    return facts;
  }

  /** Like `#read`, if the log holds that commit at `after`. */
  async #readOn(name: string, taskId: string, after: number, limit: number, lastCommitId: string) {
    const args = [String(after), lastCommitId, String(Math.min(limit, batch))];
    const entries = await this.#database.ofTask(readScript, taskId, name, args);
    if (entries === null || after < 1) throw diverged(taskId, after);
    return (entries as readonly string[]).map((entry, n) => toFact(entry, after + n + 1));
  }

  async #read(name: string, taskId: string, after: number, limit: number): Promise<StoredFact[]> {
    const { base } = (await this.#database.shards()).of(taskId);
    const last = after + Math.min(limit, batch) - 1;
    const entries = await this.#database.command('LRANGE', `${base}log:${name}`, String(after), String(last));
    return (entries as readonly string[]).map((entry, n) => toFact(entry, after + n + 1));
  }
}

/** An entry of the list that a log is: the id of the commit, NUL, and the fact. */
export function toFact(entry: string | undefined, version: number): StoredFact {
  const end = entry?.indexOf('\0') ?? -1;
  if (entry === undefined || end < 0)
    throw new StoreError('UNREADABLE', `The fact at ${version} is missing or damaged`);
  return { version, commitId: entry.slice(0, end), fact: parseFact(entry.slice(end + 1), version) };
}
