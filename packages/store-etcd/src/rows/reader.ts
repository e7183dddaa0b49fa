import type { Found, FoundTask, Moment, Wanted, WebhookRow } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import { digestOf } from '../layout/digest.ts';
import { type Keys, unchanged } from '../layout/keys.ts';
import { type KnownTask, taskOf, webhooksOf } from '../layout/known-task.ts';
import type { Compare, RangeRequest } from '../wire/messages.ts';
import type { WaitingCounts } from './waiting-counts.ts';

/** Everything that one decision was given. */
export class Look {
  readonly tasks = new Map<string, KnownTask>();
  /** What must still be so besides the tasks, by key. */
  readonly compares = new Map<string, Compare>();
  /** The last turns that callers got, by their digests. */
  readonly served = new Map<string, number>();
  /** A search found keys of rows that were not there any more. */
  hasMissed = false;
  /** A schedule's claim must not take so many tasks that one transaction cannot hold them: none in their turn. */
  readonly isNarrow: boolean;

  constructor(isNarrow = false) {
    this.isNarrow = isNarrow;
  }

  /** The first look at a task counts: if it was another one later, the write fails. */
  add(task: string, known: KnownTask): void {
    const first = this.tasks.get(task);
    if (!first) this.tasks.set(task, known);
    else if (!first.webhooks && known.webhooks) this.tasks.set(task, { ...first, webhooks: known.webhooks });
  }

  compare(key: string, revision: number): void {
    if (!this.compares.has(key)) this.compares.set(key, unchanged(key, revision));
  }
}

/** Reads rows by their names. */
export class Reader {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #clock: ClusterClock;
  readonly #counts: WaitingCounts;

  constructor(cluster: Cluster, keys: Keys, clock: ClusterClock, counts: WaitingCounts) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#clock = clock;
    this.#counts = counts;
  }

  /** The time, and how many tasks wait. */
  async moment({ waiting }: Wanted): Promise<Moment & Pick<Found, 'waiting'>> {
    const count = waiting && (await this.#counts.of(waiting.queue, waiting.atMost));
    return { ...(await this.#clock.moment()), ...(waiting && { waiting: count! }) };
  }

  /** Tasks by their names. `withConfigs`: the configs of their webhooks, too. */
  async named(wanted: Wanted, look: Look, withConfigs: boolean): Promise<Found> {
    const { tasks = [], webhooks = false } = wanted;
    const digests = tasks.map(({ scope, taskId }) => digestOf(scope, taskId));
    for (;;) {
      const moment = await this.moment(wanted);
      const ranges = tasks.flatMap(({ once }, n): RangeRequest[] => [
        { key: this.#keys.task(digests[n]!) },
        ...(webhooks ? [{ key: this.#keys.webhooks(digests[n]!) }] : []),
        ...(once === undefined ? [] : [{ key: this.#keys.once(digests[n]!, once) }]),
      ]);
      const kept = (await this.#cluster.read(ranges)).map(({ kvs }) => kvs[0]);
      let at = 0;
      const known: KnownTask[] = [];
      const found = tasks.map(({ once }, n): FoundTask => {
        const task = kept[at++];
        known.push(taskOf(task, webhooks ? webhooksOf(kept[at++]) : undefined));
        const { row, webhooks: hooks } = known[n]!;
        const counted = once === undefined ? undefined : kept[at++];
        if (once !== undefined) look.compare(this.#keys.once(digests[n]!, once), counted?.modRevision ?? 0);
        return { row, webhooks: hooks?.rows ?? [], once: counted && JSON.parse(String(counted.value)).first };
      });
      for (const [n, one] of known.entries()) look.add(digests[n]!, one);
      if (!withConfigs || !webhooks) return { ...moment, tasks: found };
      const all = known.map((one, n) => ({ task: digests[n]!, ...one }));
      const whole = await Promise.all(all.map((one) => this.withConfigs(one.task, one, () => true)));
      if (whole.every((one) => one !== undefined))
        return { ...moment, tasks: found.map((one, n) => ({ ...one, webhooks: whole[n]! })) };
    }
  }

  /** The rows of tasks by their digests, and their webhooks if those are wanted; all as they are now. */
  async rows(tasks: readonly string[], look: Look, withWebhooks = false): Promise<KnownTask[]> {
    if (tasks.length === 0) return [];
    const rows = await this.#cluster.read(tasks.map((task) => ({ key: this.#keys.task(task) })));
    const known = rows.map(({ kvs }) => taskOf(kvs[0]));
    const having = tasks.filter((_, n) => withWebhooks && (known[n]!.row?.webhooks ?? 0) > 0);
    const read = await this.#cluster.read(having.map((task) => ({ key: this.#keys.webhooks(task) })));
    const webhooks = new Map(having.map((task, n) => [task, webhooksOf(read[n]!.kvs[0])]));
    return tasks.map((task, n) => {
      const one = webhooks.has(task) ? { ...known[n]!, webhooks: webhooks.get(task) } : known[n]!;
      look.add(task, one);
      return one;
    });
  }

  /** Those webhooks of a task that `pick` wants, with their configs. Undefined: they have changed since. */
  async withConfigs(
    task: string,
    { webhooks }: KnownTask,
    pick: (webhook: WebhookRow) => boolean,
  ): Promise<readonly WebhookRow[] | undefined> {
    const { rows, apart, revision } = webhooks!;
    const picked = rows.filter(pick);
    const large = picked.filter(({ id }) => apart.has(id));
    const ranges = await this.#cluster.read(large.map(({ id }) => ({ key: this.#keys.config(task, id) })));
    const configs = new Map<string, WebhookRow['config']>();
    for (const [n, { id }] of large.entries()) {
      const kept = ranges[n]!.kvs[0];
      // Written with its row, or before it.
      if (!kept || kept.modRevision > revision) return undefined;
      configs.set(id, JSON.parse(String(kept.value)));
    }
    return picked.map((row) => (apart.has(row.id) ? { ...row, config: configs.get(row.id)! } : row));
  }
}
