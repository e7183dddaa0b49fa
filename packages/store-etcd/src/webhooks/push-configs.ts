import type { PushConfig, PushConfigStore, Scope } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { inside, type Keys, lastPart } from '../layout/keys.ts';
import type { InRow } from './large-configs.ts';
import type { Webhook } from './push-row.ts';
import type { FoundPushes, PushRows } from './push-rows.ts';

type Put = Parameters<PushConfigStore['putPushConfig']>[0];

/** Keeps webhooks. */
export class PushConfigs {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #rows: PushRows;

  constructor(cluster: Cluster, keys: Keys, rows: PushRows) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#rows = rows;
  }

  /** Resolves `false`, changing nothing, if the task has `atMost` other webhooks already. */
  async put(push: Put, atMost = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { scope, taskId, ...rest } = JSON.parse(JSON.stringify(push)) as Put;
    const change = ({ row: { webhooks } }: FoundPushes) => {
      const before = webhooks.find(({ id }) => id === rest.id);
      if (!before && webhooks.length >= atMost) return undefined;
      const webhook: Webhook = {
        ...rest,
        cursor: Math.max(rest.cursor, before?.cursor ?? 0),
        attempts: 0,
        fence: (before?.fence ?? 0) + 1,
      };
      return [...webhooks.filter((one) => one !== before), webhook];
    };
    return this.#rows.change(scope, taskId, change, true);
  }

  async get(scope: Scope, taskId: string, id: string): Promise<PushConfig | undefined> {
    const [push] = await this.#rows.read(scope, taskId, (all) => all.filter((one) => one.id === id));
    return push;
  }

  async list(
    scope: Scope,
    taskId: string,
    { limit, after = '' }: { limit: number; after?: string },
  ): Promise<PushConfig[]> {
    return this.#rows.read(scope, taskId, (all) => {
      const rest = all.filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
      return rest.slice(0, limit);
    });
  }

  async remove(scope: Scope, taskId: string, id: string): Promise<boolean> {
    return this.#rows.change(scope, taskId, ({ row: { webhooks } }) => {
      const rest = webhooks.filter((one) => one.id !== id);
      return rest.length < webhooks.length ? rest : undefined;
    });
  }

  async dead(queue: string, limit: number): Promise<PushConfig[]> {
    const [range] = await this.#cluster.read([{ ...inside(this.#keys.dead(queue)), keysOnly: true }]);
    const rows = await this.#rows.readAll(range!.kvs.map(({ key }) => lastPart(key)));
    const dead = rows.flatMap((row) =>
      row.webhooks
        .filter((webhook) => webhook.queue === queue && webhook.dead !== undefined)
        .map((webhook) => ({ row, webhook })),
    );
    const configs = await this.#rows.configsOf(dead.sort(byName).slice(0, limit));
    return configs.flatMap((push) => push ?? []);
  }

  async revive(scope: Scope, taskId: string, id: string): Promise<boolean> {
    return this.#rows.change(scope, taskId, ({ row: { webhooks } }) => {
      if (!webhooks.some((one) => one.id === id && one.dead !== undefined)) return undefined;
      const revived = { dead: undefined, attempts: 0, retryAt: undefined };
      return webhooks.map((one) => (one.id === id ? { ...one, ...revived } : one));
    });
  }
}

const byName = (a: InRow, b: InRow): number => {
  const [one, other] = [a, b].map(
    ({ row: { scope, taskId }, webhook: { id } }) => `${scope}\0${taskId}\0${id}`,
  );
  return one! < other! ? -1 : 1;
};
