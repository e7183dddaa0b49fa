import type { PushConfig, PushConfigStore, Scope } from '@batonjs/store';
import type { Database } from '../database/database.ts';
import { script } from '../database/script.ts';
import { taskName } from '../database/shards.ts';
import { dead, get, page, put, remove, revive } from '../lua/webhooks.ts';
import { type PushRow, toPushConfig } from './push-row.ts';

const scripts = {
  put: script(put),
  remove: script(remove),
  get: script(get),
  page: script(page),
  dead: script(dead),
  revive: script(revive),
};

type Put = Parameters<PushConfigStore['putPushConfig']>[0];

/** Keeps webhooks. */
export class PushConfigs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async put(
    { scope, taskId, id, config, protocolVersion, queue, cursor }: Put,
    atMost: number | undefined,
  ): Promise<boolean> {
    const most = atMost === undefined ? '' : String(atMost);
    const args = [id, JSON.stringify(config), protocolVersion, queue, String(cursor), most];
    return (await this.#database.ofTask(scripts.put, taskId, taskName(scope, taskId), args)) === 1;
  }

  async get(scope: Scope, taskId: string, id: string): Promise<PushConfig | undefined> {
    const row = await this.#database.ofTask(scripts.get, taskId, taskName(scope, taskId), [id]);
    return row ? toPushConfig(row as PushRow) : undefined;
  }

  async list(
    scope: Scope,
    taskId: string,
    { limit, after = '' }: { readonly limit: number; readonly after?: string },
  ): Promise<PushConfig[]> {
    const name = taskName(scope, taskId);
    const rows = await this.#database.ofTask(scripts.page, taskId, name, [after, String(limit)]);
    return (rows as unknown as readonly PushRow[]).map(toPushConfig);
  }

  async remove(scope: Scope, taskId: string, id: string): Promise<boolean> {
    return (await this.#database.ofTask(scripts.remove, taskId, taskName(scope, taskId), [id])) === 1;
  }

  async dead(queue: string, limit: number): Promise<PushConfig[]> {
    const { all } = await this.#database.shards();
    const ask = (shard: (typeof all)[number]) =>
      this.#database.ofShard(scripts.dead, shard, [queue, String(limit)]);
    const rows = (await Promise.all(all.map(ask))).flat() as unknown as PushRow[];
    return rows.map(toPushConfig).sort(byName).slice(0, limit);
  }

  async revive(scope: Scope, taskId: string, id: string): Promise<boolean> {
    return (await this.#database.ofTask(scripts.revive, taskId, taskName(scope, taskId), [id])) === 1;
  }
}

function byName(a: PushConfig, b: PushConfig): number {
  for (const key of ['scope', 'taskId', 'id'] as const)
    if (a[key] !== b[key]) return Buffer.compare(Buffer.from(a[key]), Buffer.from(b[key]));
  return 0;
}
