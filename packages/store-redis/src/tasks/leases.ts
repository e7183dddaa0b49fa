import {
  type ClaimRequest,
  type Lease,
  type LeaseReading,
  leaseReading,
  type Scope,
  type TurnSchedule,
} from '@batonjs/store';
import type { Database } from '../database/database.ts';
import { script, vital } from '../database/script.ts';
import { fromTaskName, type Shard, taskName } from '../database/shards.ts';
import { claim as claimSource, readLease as readSource, renew as renewSource } from '../lua/leases.ts';
import { claimTurns as claimTurnsSource } from '../lua/turns.ts';
import { mustBeOneShard } from './must-be-one-shard.ts';

const claimScript = vital(claimSource);
const claimTurnsScript = vital(claimTurnsSource);
const renewScript = vital(renewSource);
const readScript = script(readSource);

type Cause = Exclude<Lease['cause'], 'committed'>;

/** Which leases a shard is asked for. */
type Which = 'all' | 'held' | 'free';

/** Grants and renews leases. */
export class Leases {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async claim(request: ClaimRequest): Promise<Lease[]> {
    const { taskId, limit, schedule } = request;
    const shards = await this.#database.shards();
    if (schedule && taskId === undefined) return this.#claimTurns(mustBeOneShard(shards), request, schedule);
    const [only] = taskId === undefined ? shards.all : [shards.of(taskId)];
    if (taskId !== undefined || shards.all.length === 1)
      return (await this.#ask(only!, request, 'all')).leases;

    // Leases that the token holds come first, from any shard. The answers also say which shards have free tasks.
    const shuffled = shards.shuffled();
    const asked = await Promise.all(shuffled.map((shard) => this.#ask(shard, request, 'held')));
    const leases = asked.flatMap((answer) => answer.leases).slice(0, limit);
    for (const [n, { others }] of asked.entries()) {
      if (others === 0 || leases.length === limit) continue;
      const rest = { ...request, limit: limit - leases.length };
      leases.push(...(await this.#ask(shuffled[n]!, rest, 'free')).leases);
    }
    return leases;
  }

  /** Extends the leases that are still held to `ttlMs` from now and returns them. */
  async renew(leases: readonly Lease[], ttlMs: number): Promise<Lease[]> {
    const shards = await this.#database.shards();
    const held = new Set<Lease>();
    const ask = async (shard: Shard) => {
      const here = leases.filter(({ taskId }) => shards.of(taskId) === shard);
      if (here.length === 0) return;
      const args = here.flatMap(({ scope, taskId, fence, holder }) => [
        taskName(scope, taskId),
        String(fence),
        holder,
      ]);
      const answer = await this.#database.ofShard(renewScript, shard, [String(ttlMs), ...args]);
      for (const [n, isHeld] of (answer as readonly number[]).entries()) if (isHeld) held.add(here[n]!);
    };
    await Promise.all(shards.all.map(ask));
    return leases.filter((lease) => held.has(lease));
  }

  async read(scope: Scope, taskId: string): Promise<LeaseReading | undefined> {
    const answer = await this.#database.ofTask(readScript, taskId, taskName(scope, taskId), []);
    if (!answer) return undefined;
    const [fence, holder, wanted] = answer as readonly [number, string, number];
    return leaseReading({ fence, holder: holder === '' ? undefined : holder, wanted: wanted === 1 });
  }

  async waiting(queue: string): Promise<number> {
    const { all } = await this.#database.shards();
    const counts = await Promise.all(
      all.map(({ base }) => this.#database.command('HGET', `${base}waiting`, queue)),
    );
    return counts.reduce((sum: number, count) => sum + Number(count ?? 0), 0);
  }

  async #ask(
    shard: Shard,
    { queue, holder, ttlMs, limit, taskId = '', scope = '' }: ClaimRequest,
    which: Which,
  ) {
    const args = [queue, holder, String(ttlMs), String(limit), taskId, scope, which];
    const reply = await this.#database.ofShard(claimScript, shard, args);
    const [others, ...members] = reply as readonly [number, ...(string | number)[]];
    return { leases: toLeases(members, { queue, holder }), others };
  }

  async #claimTurns(shard: Shard, request: ClaimRequest, schedule: TurnSchedule): Promise<Lease[]> {
    const { queue, holder, ttlMs, limit } = request;
    const { concurrency, perCaller, perContext } = schedule;
    const most = [concurrency, perCaller, perContext].map((count) =>
      count === undefined ? '' : String(count),
    );
    const args = [queue, holder, String(ttlMs), String(limit), ...most];
    const reply = await this.#database.ofShard(claimTurnsScript, shard, args);
    return toLeases(reply as readonly (string | number)[], request);
  }
}

/** Leases from the members of an answer: name, fence and cause of each. */
function toLeases(
  members: readonly (string | number)[],
  { queue, holder }: Pick<Lease, 'queue' | 'holder'>,
): Lease[] {
  const leases: Lease[] = [];
  for (let n = 0; n < members.length; n += 3) {
    const [name, fence, cause] = members.slice(n, n + 3) as [string, number, Cause];
    leases.push({ ...fromTaskName(name), queue, holder, fence, cause });
  }
  return leases;
}
