import { clock } from '../database/database.ts';
import type { Transactions } from '../database/transactions.ts';

/** For how long it holds that a process listens, in milliseconds. */
const holdsMs = 90_000;

/**
 * Whether another process listens, as a condition of SQL, for all who write: none notifies where no other one can hear it.
 * `id`: the sender, without quotes.
 */
export const isHeard = (schema: string, id: string): string =>
  `EXISTS (SELECT FROM ${schema}.listeners WHERE id <> '${id}' AND until > ${clock})`;

export interface RegistrationOptions {
  readonly schema: string;
  readonly id: string;
  readonly transactions: Transactions;
  /** How often it is renewed, in milliseconds. Longer than any statement takes. Default 30,000. */
  readonly renewEveryMs?: number;
  /** Called with each renewal: all statements that began before the last one have ended. */
  readonly onKnown: () => void;
  /** Called where others may have known nothing of this process for a while. */
  readonly onLapsed: () => void;
}

/** What says in the database that this process listens. */
export class Registration {
  readonly #options: RegistrationOptions;
  readonly #put: string;
  readonly #delete: string;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    const { schema, id } = options;
    this.#delete = `DELETE FROM ${schema}.listeners WHERE id = '${id}'`;
    // Processes that ended without a word are forgotten with it.
    this.#put = `WITH old AS (
        DELETE FROM ${schema}.listeners WHERE id IN (
          SELECT id FROM ${schema}.listeners WHERE id <> '${id}' AND until <= ${clock} FOR UPDATE SKIP LOCKED)
      ), held AS (SELECT FROM ${schema}.listeners WHERE id = '${id}' AND until > ${clock})
      INSERT INTO ${schema}.listeners (id, until) SELECT '${id}', ${clock} + ${holdsMs}
      ON CONFLICT (id) DO UPDATE SET until = excluded.until RETURNING EXISTS (SELECT FROM held) AS held`;
  }

  /** Resolves once all who begin to write from now on know of this process: to whether they did before. */
  async begin(): Promise<boolean> {
    const [row] = await this.#options.transactions.query(this.#put);
    this.#renewLater();
    return row?.held === true;
  }

  async end(): Promise<void> {
    const timer = this.#timer;
    clearTimeout(timer);
    // Before the deletion, so that a renewal under way begins no other timer.
    this.#timer = undefined;
    if (timer) await this.#options.transactions.query(this.#delete).catch(() => {});
  }

  #renewLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#renew(), this.#options.renewEveryMs ?? 30_000).unref();
  }

  async #renew(): Promise<void> {
    const timer = this.#timer;
    const [renewed] = await this.#options.transactions.query(this.#put).catch(() => []);
    if (timer !== this.#timer) return;
    if (renewed?.held) this.#options.onKnown();
    else if (renewed) this.#options.onLapsed();
    this.#renewLater();
  }
}
