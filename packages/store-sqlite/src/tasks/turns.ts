import { type ClaimRequest, pickTurns, TurnGate, type TurnSchedule } from '@batonjs/store';
import type { Database } from '../sql/database.ts';
import { type Moment, type TaskRow, taskColumns } from './task-row.ts';

/** A caller that got no turn for so many turns of the queue comes first anyway: its last one is forgotten. */
const mostServed = 10_000;

/** Finds the tasks that a schedule gives a turn, and remembers which callers got one. */
export class Turns {
  readonly #running;
  readonly #callers;
  readonly #plain;
  readonly #ready;
  readonly #lastTurn;
  readonly #serve;
  readonly #forget;

  constructor(db: Database) {
    this.#running = db.prepare(
      'SELECT scope, context FROM tasks WHERE queue = ? AND lease_until IS NOT NULL',
    );
    // From one caller to the next on the index: reads as many entries as there are callers, not tasks.
    const next = (condition: string) =>
      `SELECT scope FROM tasks WHERE queue = ?1 AND turn_at IS NOT NULL ${condition} ORDER BY scope LIMIT 1`;
    this.#callers = db.prepare(
      `WITH RECURSIVE callers (scope) AS (
         SELECT (${next('')})
         UNION ALL
         SELECT (${next('AND scope > callers.scope')}) FROM callers WHERE callers.scope IS NOT NULL
       )
       SELECT callers.scope, coalesce(served.turn, 0) AS turn, (SELECT min(turn_at) FROM tasks
         WHERE queue = ?1 AND scope = callers.scope AND turn_at IS NOT NULL) AS first
       FROM callers LEFT JOIN served ON served.queue = ?1 AND served.scope = callers.scope
       WHERE callers.scope IS NOT NULL`,
    );
    this.#plain = [
      'waiting_since IS NOT NULL ORDER BY waiting_since',
      'ready_at <= ?3 ORDER BY ready_at',
    ].map((condition) =>
      db.prepare(`SELECT ${taskColumns} FROM tasks WHERE queue = ?1 AND ${condition} LIMIT ?2`),
    );
    this.#ready = db.prepare(
      `SELECT ${taskColumns} FROM tasks
       WHERE queue = ?1 AND scope = ?2 AND turn_at <= ?3 AND (waiting_since IS NOT NULL OR ready_at <= ?3)
         AND context NOT IN (SELECT value FROM json_each(?4))
       ORDER BY turn_at, id LIMIT ?5`,
    );
    this.#lastTurn = db.prepare('SELECT max(turn) AS turn FROM served WHERE queue = ?');
    this.#serve = db.prepare('REPLACE INTO served (queue, scope, turn) VALUES (?, ?, ?)');
    this.#forget = db.prepare('DELETE FROM served WHERE queue = ? AND turn <= ?');
  }

  /** Up to `limit` tasks that may get a turn, in order. */
  pick({ queue, limit }: ClaimRequest, schedule: TurnSchedule, { now }: Moment): TaskRow[] {
    const running = this.#running.all(queue) as unknown as TaskRow[];
    const gate = new TurnGate(schedule, running);
    const most = Math.min(limit, gate.room);
    if (most === 0) return [];
    // Stored without an order, before a schedule was used.
    const [waiting, due] = this.#plain;
    const plain = [
      ...(waiting!.all(queue, limit) as unknown as TaskRow[]),
      ...(due!.all(queue, limit, now) as unknown as TaskRow[]),
    ].filter(({ ahead_ms }) => ahead_ms === null);
    const callers: TaskRow[][] = [plain];
    const known = this.#callers.all(queue) as { scope: string; turn: number; first: number }[];
    known.sort((one, other) => one.turn - other.turn || one.first - other.first);
    for (const { scope, first } of known) {
      if (callers.length > most) break;
      if (first > now || !gate.admitsCaller(scope)) continue;
      const full = JSON.stringify(gate.fullContexts(scope));
      const tasks = this.#ready.all(queue, scope, now, full, most) as unknown as TaskRow[];
      if (tasks.length > 0) callers.push(tasks);
    }
    return pickTurns(gate, callers, limit);
  }

  /** Notes that these callers got turns, in this order. */
  serve(queue: string, scopes: readonly string[]): void {
    if (scopes.length === 0) return;
    let { turn } = this.#lastTurn.get(queue) as { turn: number };
    for (const scope of scopes) this.#serve.run(queue, scope, ++turn);
    this.#forget.run(queue, turn - mostServed);
  }
}
