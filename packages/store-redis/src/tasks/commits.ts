import {
  type Commit,
  type Committed,
  factsInOrder,
  mustMakeSense,
  StoreError,
  type StoreErrorCode,
} from '@batonjs/store';
import type { Database } from '../database/database.ts';
import { script, vital } from '../database/script.ts';
import { taskName } from '../database/shards.ts';
import { timeOf } from '../database/time-of.ts';
import { commit as source } from '../lua/commit.ts';
import { mustBeOneShard } from './must-be-one-shard.ts';

const commitScript = script(source);
const vitalScript = vital(source);

type Head = NonNullable<Commit['head']>;

/** Writes commits, each in one script. */
export class Commits {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async write(commit: Commit): Promise<Committed> {
    if (commit.turn?.aheadMs !== undefined) mustBeOneShard(await this.#database.shards());
    const { scope, taskId, commitId, expectedVersion, head, snapshot, once, writer, turn } = commit;
    const facts = factsInOrder(commit, undefined);
    const name = taskName(scope, taskId);
    try {
      mustMakeSense(commit);
    } catch (error) {
      return await this.#repeated(commit, name, error);
    }
    const args = [
      String(expectedVersion),
      head ? JSON.stringify(head) : '',
      head ? placeOf(head) : '',
      head?.dueAt === undefined ? '' : String(timeOf(head.dueAt, 'dueAt')),
      String(facts.length),
    ];
    for (const fact of facts) args.push(`${commitId}\0${JSON.stringify(fact)}`);
    if (once !== undefined) args.push('once', once);
    if (writer) args.push('fence', String(writer.fence), 'writer', writer.holder);
    if (expectedVersion === 'open') args.push('at', facts[0]!.at);
    if (turn) args.push('queue', turn.queue, ...turnOf(turn));
    if (snapshot) args.push('snapshot', JSON.stringify(snapshot), 'from', String(snapshot.version));
    const reply = await this.#database.ofTask(
      isVital(commit) ? vitalScript : commitScript,
      taskId,
      name,
      args,
    );
    if (typeof reply === 'number') return { version: reply };
    const [first, second, lastAt] = reply as readonly [string | number, number, string | undefined];
    if (first === 'BEHIND') return this.write({ ...commit, facts: factsInOrder(commit, lastAt) });
    if (first === 'REPEATED') return { version: second, repeated: true };
    if (typeof first === 'string') throw refusal(first as StoreErrorCode, commit, second);
    const { queue, acquire } = turn!;
    const { holder } = acquire!;
    return { version: first, lease: { scope, taskId, queue, holder, fence: second, cause: 'committed' } };
  }

  /** A `once` that was used before is found even if the commit contradicts itself. */
  async #repeated({ once, taskId }: Commit, name: string, error: unknown): Promise<Committed> {
    if (!StoreError.is(error, 'INVALID_COMMIT') || once === undefined) throw error;
    const { base } = (await this.#database.shards()).of(taskId);
    const version = await this.#database.command('HGET', `${base}task:${name}`, `once:${once}`);
    if (version === null) throw error;
    return { version: Number(version), repeated: true };
  }
}

/** Commits that end work free memory later: they are written even while the memory is full. */
const isVital = ({ head, once, turn }: Commit): boolean =>
  head?.closed === true || turn?.release === true || once === 'cancel';

function turnOf({ want, waitingAtMost, aheadMs, release, acquire }: NonNullable<Commit['turn']>): string[] {
  return [
    ...(want ? ['want', '1'] : []),
    ...(waitingAtMost === undefined ? [] : ['most', String(waitingAtMost)]),
    ...(aheadMs === undefined ? [] : ['ahead', String(aheadMs)]),
    ...(release ? ['release', '1'] : []),
    ...(acquire ? ['acquire', acquire.holder, 'ttl', String(acquire.ttlMs)] : []),
  ];
}

/** The values that a task is listed by, as the scripts read them. */
function placeOf({ closed, statusAt, state, contextId }: Head): string {
  return `${closed ? 1 : 0}${timeOf(statusAt, 'statusAt')}\0${state ?? ''}\0${contextId}`;
}

function refusal(
  code: StoreErrorCode,
  { taskId, expectedVersion, writer, turn }: Commit,
  version: number,
): StoreError {
  const messages: Partial<Record<StoreErrorCode, string>> = {
    FENCED: `${writer?.holder} does not hold task ${taskId} any more`,
    LOG_CLOSED: `The log of task ${taskId} is closed`,
    VERSION_CONFLICT:
      expectedVersion === 'open'
        ? `Task ${taskId} has no log to append to`
        : `The log of task ${taskId} is at ${version}, not ${expectedVersion}`,
    QUEUE_FULL: `${turn?.waitingAtMost} tasks of queue ${turn?.queue} are waiting for a turn already`,
    INVALID_COMMIT: 'The first commit of a log needs a head',
  };
  return new StoreError(code, messages[code] ?? code);
}
