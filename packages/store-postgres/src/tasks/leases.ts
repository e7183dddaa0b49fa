import {
  type ClaimRequest,
  claimed,
  type Lease,
  type LeaseReading,
  leaseReading,
  type Scope,
} from '@batonjs/store';
import { clock, type DatabaseRow } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import type { Transactions } from '../database/transactions.ts';
import { type TaskRow, type TaskRows, taskColumns, toTaskRow, waitingSinceOf } from './task-row.ts';
import type { Turns } from './turns.ts';

/** Grants and renews leases. */
export class Leases {
  readonly #transactions: Transactions;
  readonly #rows: TaskRows;
  readonly #held: string;
  readonly #ready: string;
  readonly #free: string;
  readonly #ofAnyScope: string;
  readonly #named: string;
  readonly #renew: string;
  readonly #waiting: string;
  readonly #one: string;

  readonly #turns: Turns;

  constructor(schema: string, transactions: Transactions, rows: TaskRows, turns: Turns) {
    this.#transactions = transactions;
    this.#rows = rows;
    this.#turns = turns;
    const find = `SELECT ${taskColumns}, ${clock} AS now FROM ${schema}.tasks WHERE queue_key = $1`;
    this.#held = `${find} AND holder_key = $2 ORDER BY key LIMIT $3`;
    this.#ready = `${find} AND ready_at <= $2 ORDER BY ready_at LIMIT $3`;
    this.#free = `${find} AND ready_at <= $2 AND holder_key IS NULL ORDER BY ready_at LIMIT $3`;
    // Tasks that cannot be claimed are not looked at: no index has the ids of all tasks.
    this.#ofAnyScope = `${find} AND ready_at IS NOT NULL AND task_id = $2 ORDER BY key`;
    this.#named = `${find} AND key = $2`;
    this.#one = `SELECT ${taskColumns} FROM ${schema}.tasks WHERE key = $1`;
    this.#renew = `WITH held AS (
        SELECT t.key FROM ${schema}.tasks AS t
        JOIN unnest($1::text[], $2::text[], $3::bigint[]) AS u(key, holder, fence)
          ON t.key = u.key AND t.holder = u.holder AND t.fence = u.fence
        ORDER BY t.key FOR UPDATE OF t
      )
      UPDATE ${schema}.tasks AS t
      SET revision = t.revision + 1, lease_until = ${clock} + $4::bigint, ready_at = ${clock} + $4::bigint
      FROM held WHERE t.key = held.key RETURNING t.key, t.holder, t.fence`;
    this.#waiting = `SELECT coalesce(sum(tasks), 0) AS tasks FROM ${schema}.waiting WHERE queue_key = $1`;
  }

  async claim(request: ClaimRequest): Promise<Lease[]> {
    if (!(await this.#any(request))) return [];
    return this.#transactions.run(async (session, now) => {
      const lock = async (query: string, value: unknown, limit?: number, end = '') => {
        const values = [keyOf(request.queue), value, ...(limit === undefined ? [] : [limit])];
        return (await session.query(`${query} FOR UPDATE${end}`, values)).map(toTaskRow);
      };
      const { holder, limit, schedule } = request;
      const named = this.#findNamed(request);
      const leases: Lease[] = [];
      const writes = new Map<string, TaskRow>();
      const take = (rows: readonly TaskRow[]) => {
        for (const found of rows) {
          if (leases.length === limit || writes.has(found.key)) continue;
          if (!isAskedFor(found, request)) continue;
          const claim = claimed(found.row, request, now);
          if (!claim) continue;
          const { row, cause } = claim;
          writes.set(found.key, { ...found, row, waitingSince: waitingSinceOf(row, undefined, now) });
          leases.push({
            scope: found.scope,
            taskId: found.taskId,
            queue: request.queue,
            holder,
            fence: row.fence,
            cause,
          });
        }
      };
      take(await lock(this.#held, keyOf(holder), limit));
      // Rows that another transaction holds are left to it, so that claims never wait for each other.
      if (named) take(await lock(named.query, named.key, undefined, ' SKIP LOCKED'));
      else if (schedule && leases.length < limit) {
        const asked = { ...request, limit: limit - leases.length };
        const { left, turns } = await this.#turns.pick(session, asked, schedule, now);
        const keys = [...left, ...turns];
        const locked = keys.length > 0 ? await session.query(this.#rows.locking(keys)) : [];
        const found = new Map(locked.map(toTaskRow).map((row) => [row.key, row]));
        take(keys.flatMap((key) => found.get(key) ?? []));
        const started = turns.flatMap((key) => (writes.has(key) ? (found.get(key)?.scope ?? []) : []));
        await this.#turns.serve(session, request.queue, started);
      } else if (leases.length < limit) {
        const ready = await lock(this.#ready, now, limit, ' SKIP LOCKED');
        take(ready);
        // All that were read may be leases that are kept, and come before the tasks that wait.
        if (ready.length === limit && leases.length < limit)
          take(await lock(this.#free, now, limit, ' SKIP LOCKED'));
      }
      await this.#rows.update(session, [...writes.values()]);
      return leases;
    });
  }

  /** Most claims find nothing, and then take no lock. */
  async #any(request: ClaimRequest): Promise<boolean> {
    const { queue, holder, limit } = request;
    const named = this.#findNamed(request);
    const read = (query: string, ...values: readonly unknown[]) =>
      this.#transactions.query(query, [keyOf(queue), ...values]);
    // The clock as a query of its own is read once, and so can be compared with the index.
    const readNow = (query: string) =>
      read(query.replace('$2', `(SELECT ${clock})`).replace('$3', '$2'), limit);
    const canTakeAny = (found: readonly DatabaseRow[]) =>
      found.some((one) => claimed(toTaskRow(one).row, request, Number(one.now)));
    if (canTakeAny(await read(this.#held, keyOf(holder), limit))) return true;
    if (named) return canTakeAny(await read(named.query, named.key));
    const ready = await readNow(this.#ready);
    if (canTakeAny(ready)) return true;
    return ready.length === limit && canTakeAny(await readNow(this.#free));
  }

  #findNamed({ taskId, scope }: ClaimRequest) {
    if (taskId === undefined) return undefined;
    if (scope === undefined) return { query: this.#ofAnyScope, key: taskId };
    return { query: this.#named, key: keyOf(scope, taskId) };
  }

  /** Extends the leases that are still held to `ttlMs` from now and returns them. */
  async renew(leases: readonly Lease[], ttlMs: number): Promise<Lease[]> {
    if (leases.length === 0) return [];
    const keys = leases.map(({ scope, taskId }) => keyOf(scope, taskId));
    const holders = leases.map(({ holder }) => holder);
    const fences = leases.map(({ fence }) => fence);
    const rows = await this.#transactions.query(this.#renew, [keys, holders, fences, ttlMs]);
    const held = new Set(rows.map(({ key, fence, holder }) => `${key} ${fence} ${holder}`));
    return leases.filter(({ holder, fence }, n) => held.has(`${keys[n]} ${fence} ${holder}`));
  }

  async read(scope: Scope, taskId: string): Promise<LeaseReading | undefined> {
    const [found] = await this.#transactions.query(this.#one, [keyOf(scope, taskId)]);
    return found && leaseReading(toTaskRow(found).row);
  }

  async waiting(queue: string): Promise<number> {
    const [row] = await this.#transactions.query(this.#waiting, [keyOf(queue)]);
    return Number(row!.tasks);
  }
}

const isAskedFor = (found: TaskRow, { taskId, scope }: ClaimRequest): boolean =>
  taskId === undefined || (found.taskId === taskId && (scope === undefined || found.scope === scope));
