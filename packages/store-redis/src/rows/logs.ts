import { type Scope, type StoredFact, StoreError } from '@batonjs/store';
import { type KeptFacts, type KeptLog, parseFact, type TaskRow } from '@batonjs/store/adapter';
import { listOf, type RedisReply } from '../connection/driver.ts';
import { type Database, script, taskName } from '../database/database.ts';
import { load as source } from '../lua/load.ts';
import type { Reader } from './reader.ts';

const loadScript = script(source);

/** How many facts one command reads: Redis serves no other client meanwhile. */
const batch = 500;

/** Reads logs. A long log is read in batches. */
export function logsOf(database: Database, reader: Reader) {
  async function read(name: string, taskId: string, after: number, limit: number): Promise<KeptFacts> {
    // Before the first fact there is none.
    const start = Math.max(0, after);
    const range = ['LRANGE', `log:${name}`, String(start), String(after + limit - 1)];
    const { replies } = await reader.ask(taskId, [
      ['-', 'LLEN', `log:${name}`],
      ['-', ...range],
    ]);
    const [version, entries] = replies;
    const facts = listOf(entries).map((entry, n) => toFact(entry, start + n + 1));
    return { version: Number(version), facts };
  }

  return {
    async log(scope: Scope, taskId: string): Promise<KeptLog | undefined> {
      const name = taskName(scope, taskId);
      const loaded = await database.ofTask(loadScript, taskId, name, [String(batch)]);
      if (!loaded) return undefined;
      const [json, snapshot, start, entries] = listOf(loaded);
      const row: TaskRow = JSON.parse(String(json));
      const from = Number(start);
      const facts = listOf(entries).map((entry, n) => toFact(entry, from + n + 1));
      // Facts never change: those read later up to this version existed when the first ones were read.
      while (facts.length < row.version - from) {
        const most = Math.min(batch, row.version - from - facts.length);
        const more = await read(name, taskId, from + facts.length, most);
        // The log was deleted meanwhile, or is damaged.
        if (more.version === 0) return undefined;
        if (more.facts.length === 0) break;
        facts.push(...more.facts);
      }
      return { row, facts, snapshot: snapshot ? JSON.parse(String(snapshot)) : undefined };
    },

    async facts(scope: Scope, taskId: string, after: number, limit: number): Promise<KeptFacts> {
      const name = taskName(scope, taskId);
      const facts: StoredFact[] = [];
      for (;;) {
        const most = Math.min(batch, limit - facts.length);
        const found = await read(name, taskId, after + facts.length, most);
        facts.push(...found.facts);
        if (found.facts.length < most || facts.length >= limit) return { version: found.version, facts };
      }
    },
  };
}

/** An entry of the list that a log is: the id of the commit, NUL, and the fact. */
export function toFact(entry: RedisReply | undefined, version: number): StoredFact {
  const end = typeof entry === 'string' ? entry.indexOf('\0') : -1;
  if (typeof entry !== 'string' || end < 0)
    throw new StoreError('UNREADABLE', `The fact at ${version} is missing or damaged`);
  return { version, commitId: entry.slice(0, end), fact: parseFact(entry.slice(end + 1), version) };
}
