import { type ClaimRequest, pickTurns, TurnGate, type TurnPlace, type TurnSchedule } from '@batonjs/store';
import type { Session } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';

/** A caller that got no turn for so many turns of the queue comes first anyway: its last one is forgotten. */
const mostServed = 10_000;

/** Callers and contexts by their digests. */
interface Turn extends TurnPlace {
  readonly key: string;
}

/** What a schedule gives out, in order. */
interface Picked {
  /** The keys of tasks whose lease ran out. */
  readonly left: string[];
  /** The keys of tasks that get a turn. */
  readonly turns: string[];
}

/** Finds the tasks that a schedule gives a turn, and remembers which callers got one. */
export class Turns {
  readonly #lock: string;
  readonly #running: string;
  readonly #plain: string;
  readonly #ready: string;
  readonly #serve: string;
  readonly #forget: string;

  constructor(schema: string) {
    this.#lock = `SELECT pg_advisory_xact_lock(hashtext('baton turns ' || $1), hashtext($2))`;
    this.#running = `SELECT key, scope_key, context_key, holder, lease_until FROM ${schema}.tasks
      WHERE queue_key = $1 AND holder_key IS NOT NULL`;
    this.#plain = `SELECT * FROM (SELECT key, scope_key, context_key, ahead_ms, ready_at FROM ${schema}.tasks
      WHERE queue_key = $1 AND ready_at <= $2 AND holder_key IS NULL ORDER BY ready_at LIMIT $3) AS oldest
      WHERE ahead_ms IS NULL ORDER BY ready_at`;
    // From one caller to the next on the index: reads as many entries as there are callers, not tasks.
    const next = (condition: string) => `SELECT t.scope_key FROM ${schema}.tasks AS t
      WHERE t.queue_key = $1 AND t.turn_at IS NOT NULL ${condition} ORDER BY t.scope_key LIMIT 1`;
    this.#ready = `WITH RECURSIVE callers (scope_key) AS (
        (${next('')})
        UNION ALL
        SELECT (${next('AND t.scope_key > c.scope_key')}) FROM callers AS c WHERE c.scope_key IS NOT NULL
      ), firsts AS (
        SELECT c.scope_key, coalesce(s.turn, 0) AS turn, (SELECT min(t.turn_at) FROM ${schema}.tasks AS t
          WHERE t.queue_key = $1 AND t.scope_key = c.scope_key AND t.turn_at IS NOT NULL) AS first
        FROM callers AS c LEFT JOIN ${schema}.served AS s ON s.queue_key = $1 AND s.scope_key = c.scope_key
        WHERE c.scope_key IS NOT NULL AND NOT c.scope_key = ANY($3::text[])
      ), chosen AS (
        SELECT * FROM firsts AS f
        WHERE f.first <= $2 AND EXISTS (SELECT 1 FROM ${schema}.tasks AS t
          WHERE t.queue_key = $1 AND t.scope_key = f.scope_key AND t.turn_at <= $2 AND t.ready_at <= $2
            AND NOT t.context_key = ANY($4::text[]))
        ORDER BY f.turn, f.first LIMIT $5
      )
      SELECT ready.key, ready.scope_key, ready.context_key FROM chosen CROSS JOIN LATERAL (
        SELECT t.key, t.scope_key, t.context_key, t.turn_at FROM ${schema}.tasks AS t
        WHERE t.queue_key = $1 AND t.scope_key = chosen.scope_key AND t.turn_at <= $2 AND t.ready_at <= $2
          AND NOT t.context_key = ANY($4::text[])
        ORDER BY t.turn_at LIMIT $5
      ) AS ready ORDER BY chosen.turn, chosen.first, ready.turn_at`;
    this.#serve = `INSERT INTO ${schema}.served (queue_key, scope_key, turn)
      SELECT $1, u.scope_key, last.turn + u.n FROM unnest($2::text[], $3::bigint[]) AS u(scope_key, n),
        (SELECT coalesce(max(turn), 0) AS turn FROM ${schema}.served WHERE queue_key = $1) AS last
      ON CONFLICT (queue_key, scope_key) DO UPDATE SET turn = excluded.turn`;
    this.#forget = `DELETE FROM ${schema}.served
      WHERE queue_key = $1 AND turn <= (SELECT max(turn) FROM ${schema}.served WHERE queue_key = $1) - ${mostServed}`;
  }

  /**
   * Picks tasks, in a transaction. From here to its end no other claim of the queue with a schedule can: each counts what
   * the ones before it have given out.
   */
  async pick(
    session: Session,
    { queue, limit, isKept }: ClaimRequest,
    schedule: TurnSchedule,
    now: number,
  ): Promise<Picked> {
    const queueKey = keyOf(queue);
    await session.query(this.#lock, [queueKey, queueKey]);
    const held = await session.query(this.#running, [queueKey]);
    const left = held.filter(
      ({ holder, lease_until }) => Number(lease_until) <= now && !isKept?.(String(holder)),
    );
    const keys = left.slice(0, limit).map(({ key }) => String(key));
    const gate = new TurnGate(schedule, held.map(toTurn));
    const most = Math.min(limit - keys.length, gate.room);
    if (most === 0) return { left: keys, turns: [] };
    const scopes = new Set(held.map(({ scope_key }) => String(scope_key)));
    const full = [...scopes].filter((scope) => !gate.admitsCaller(scope));
    const fullContexts = [...scopes].flatMap((scope) => gate.fullContexts(scope));
    // Stored without an order, before a schedule was used.
    const plain = await session.query(this.#plain, [queueKey, now, limit]);
    const ready = await session.query(this.#ready, [queueKey, now, full, fullContexts, most]);
    const callers = new Map<string, Turn[]>();
    for (const turn of ready.map(toTurn)) callers.set(turn.scope, [...(callers.get(turn.scope) ?? []), turn]);
    const picked = pickTurns(gate, [plain.map(toTurn), ...callers.values()], most);
    return { left: keys, turns: picked.map(({ key }) => key) };
  }

  /** Notes that these callers got turns, in this order. */
  async serve(session: Session, queue: string, scopes: readonly string[]): Promise<void> {
    if (scopes.length === 0) return;
    // The last turn of each caller counts.
    const last = new Map(scopes.map((scope, n) => [keyOf(scope), n + 1]));
    await session.query(this.#serve, [keyOf(queue), [...last.keys()], [...last.values()]]);
    await session.query(this.#forget, [keyOf(queue)]);
  }
}

const toTurn = ({ key, scope_key, context_key }: Readonly<Record<string, unknown>>): Turn => ({
  key: String(key),
  scope: String(scope_key),
  context: String(context_key),
});
