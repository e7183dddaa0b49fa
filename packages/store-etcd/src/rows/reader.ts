import type { Found, FoundTask, Moment, Wanted, WebhookRow } from '@batonjs/store/adapter';
import {
  type Database,
  isApart,
  type KnownTask,
  type KnownWebhooks,
  noWebhooks,
  taskOf,
  webhooksOf,
} from '../layout/known-task.ts';
import { waitingCounts } from './queue-fronts.ts';
import { Look, namedIn, recordIn, taskIn } from './records.ts';

/** Reads rows by their names. */
export class Reader {
  readonly #db: Database;
  readonly #counts: ReturnType<typeof waitingCounts>;

  constructor(db: Database, counts = waitingCounts(db)) {
    this.#db = db;
    this.#counts = counts;
  }

  /** The time, and how many tasks wait. */
  async moment({ waiting, tasks }: Wanted): Promise<Moment & Pick<Found, 'waiting'>> {
    // A commit only learns whether there is room: a count of any age says so, if the queue cannot have become full since.
    const oldestMs = tasks ? Number.POSITIVE_INFINITY : undefined;
    const count = waiting && (await this.#counts(waiting.queue, waiting.atMost, oldestMs));
    return { ...(await this.#db.clock.moment()), waiting: count };
  }

  /** Tasks and records by their names, for a decision to change them. */
  async named(wanted: Wanted, look: Look): Promise<Found & Required<Pick<Found, 'tasks'>>> {
    const { webhooks = false, records } = wanted;
    const { cluster, keys } = this.#db;
    const named = namedIn(wanted);
    const moment = await this.moment(wanted);
    const all = named.flatMap(({ task, once }) => [
      keys.task(task),
      ...(webhooks ? [keys.webhooks(task)] : []),
      ...(once === undefined ? [] : [keys.once(task, once)]),
    ]);
    for (const name of records ?? []) all.push(keys.record(name));
    const kept = new Map(await cluster.getEach(all, (key) => ({ key })));
    const tasks = named.map(({ task, once }): FoundTask => {
      const hooks = webhooks ? webhooksOf(kept.get(keys.webhooks(task))) : undefined;
      const known = taskOf(kept.get(keys.task(task)), hooks);
      look.add(task, known);
      const found = { row: known.row, webhooks: hooks?.rows ?? [] };
      if (once === undefined) return { ...found, once };
      const counted = kept.get(keys.once(task, once));
      look.compare(keys.once(task, once), counted?.modRevision);
      return { ...found, once: counted && JSON.parse(String(counted.value)).first };
    });
    return {
      ...moment,
      tasks,
      records: records?.map((name) => recordIn(kept.get(keys.record(name)), keys.record(name), look)),
    };
  }

  /** Tasks by their names, with the configs of their webhooks. */
  async whole(wanted: Wanted): Promise<Found> {
    for (;;) {
      const look = new Look();
      const found = await this.named(wanted, look);
      const tasks = await Promise.all(found.tasks.map((one) => this.#withConfigs(one, look)));
      const whole = tasks.filter((one) => one !== undefined);
      if (whole.length === tasks.length) return { ...found, tasks: whole };
    }
  }

  async #withConfigs(found: FoundTask, look: Look): Promise<FoundTask | undefined> {
    const [first] = found.webhooks;
    if (!first) return found;
    const task = taskIn(first);
    const webhooks = await this.withConfigs(task, look.get(task).webhooks);
    return webhooks && { ...found, webhooks };
  }

  /** The rows of tasks by their digests, as they are now. */
  async rows(tasks: readonly string[], look: Look): Promise<(readonly [task: string, known: KnownTask])[]> {
    const read = await this.#db.cluster.getEach(tasks, (task) => ({ key: this.#db.keys.task(task) }));
    const known = read.map(([task, kept]) => [task, taskOf(kept)] as const);
    for (const [task, one] of known) look.add(task, one);
    return known;
  }

  /** Those webhooks of a task that `pick` wants, with their configs. Undefined: they have changed since. */
  async withConfigs(
    task: string,
    { rows, revision }: KnownWebhooks = noWebhooks,
    pick: (webhook: WebhookRow) => boolean = () => true,
  ): Promise<readonly WebhookRow[] | undefined> {
    const picked = rows.filter(pick);
    const configs = new Map<WebhookRow, WebhookRow['config']>();
    const key = ({ id }: WebhookRow) => ({ key: this.#db.keys.config(task, id) });
    for (const [row, kept] of await this.#db.cluster.getEach(picked.filter(isApart), key)) {
      // Written with its row, or before it.
      if (!kept || kept.modRevision > revision) return undefined;
      configs.set(row, JSON.parse(String(kept.value)));
    }
    return picked.map((row) => ({ ...row, config: configs.get(row) ?? row.config }));
  }
}
