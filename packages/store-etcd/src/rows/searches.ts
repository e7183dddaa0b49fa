import {
  byName,
  type Found,
  type Moment,
  type TaskRow,
  type WaitingCaller,
  type Wanted,
  type WebhookRow,
} from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { inside, insideUntil, type Keys, lastPart } from '../layout/keys.ts';
import { webhooksOf } from '../layout/known-task.ts';
import { timeIn, turnIn, turnOf } from '../layout/order.ts';
import type { PlaceOf } from '../layout/places.ts';
import type { KeyValue, RangeRequest } from '../wire/messages.ts';
import { QueueFronts } from './queue-fronts.ts';
import type { Look, Reader } from './reader.ts';

/** How many tasks one transaction can change, about: etcd takes 128 comparisons. */
const mostTogether = 60;

/** The most bytes of webhooks that one claim writes, unless those of one task are more. */
const mostBytes = 512 * 1024;

/** How often a search is repeated because of what others take meanwhile. */
const mostLooks = 10;

/** How many tasks of a caller are read at once. */
const turnsAtOnce = 100;

/** Finds rows by the keys of their places. */
export class Searches {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #reader: Reader;
  readonly #fronts = new QueueFronts();

  constructor(cluster: Cluster, keys: Keys, reader: Reader) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#reader = reader;
  }

  async find(wanted: Wanted, look: Look): Promise<Found> {
    const moment = await this.#reader.moment(wanted);
    const { held, schedule, ready, turns, deliveries, dead, ended } = wanted;
    // First: a claim by another process after this look makes the write fail.
    const counted = schedule && (await this.#schedule(schedule.queue, look));
    return {
      ...moment,
      ...(counted && { schedule: counted }),
      ...(held && { held: await this.#held(held, look) }),
      ...(ready && {
        ready: await this.#settled(look, () => this.#ready(ready, moment, look, schedule !== undefined)),
      }),
      ...(turns && { turns: await this.#turns(turns, moment, look) }),
      ...(deliveries && {
        deliveries: await this.#settled(look, () => this.#deliveries(deliveries, moment, look)),
      }),
      ...(dead && { dead: await this.#dead(dead, look) }),
      ...(ended && { ended: await this.#ended(ended, look) }),
    };
  }

  /** Looks again if others took rows between the look at the keys and that at the rows: there may be more. */
  async #settled<T>(look: Look, search: () => Promise<T>): Promise<T> {
    for (let looks = 1; ; looks++) {
      look.hasMissed = false;
      const found = await search();
      if (!look.hasMissed || looks === mostLooks) return found;
    }
  }

  async #keysOf(range: RangeRequest): Promise<readonly KeyValue[]> {
    return (await this.#cluster.read([range]))[0]!.kvs;
  }

  /** The rows of tasks that a look found, if they still are where it found them. */
  async #rowsOf(
    kvs: readonly KeyValue[],
    look: Look,
    isThere: (row: TaskRow) => boolean,
  ): Promise<TaskRow[]> {
    const known = await this.#reader.rows(
      kvs.map(({ key }) => lastPart(key)),
      look,
    );
    const rows = known.flatMap(({ row }) => (row && isThere(row) ? row : []));
    if (rows.length < known.length) look.hasMissed = true;
    return rows;
  }

  async #held({ queue, holder, limit }: NonNullable<Wanted['held']>, look: Look): Promise<TaskRow[]> {
    const range = { ...inside(this.#keys.heldBy(holder)), keysOnly: true };
    const isHeld = (row: TaskRow) => row.queue === queue && row.holder === holder;
    const kvs = await this.#keysOf({ ...range, limit });
    const rows = await this.#rowsOf(kvs, look, isHeld);
    if (kvs.length < limit || rows.length === limit) return rows;
    // Some are of another queue.
    return (await this.#rowsOf(await this.#keysOf(range), look, isHeld)).slice(0, limit);
  }

  async #ready(
    { queue, limit, left }: NonNullable<Wanted['ready']>,
    { now, leaseNow }: Moment,
    look: Look,
    isScheduled: boolean,
  ): Promise<NonNullable<Found['ready']>> {
    const most = isScheduled ? Math.min(limit, mostTogether) : limit;
    const until = (folder: string, ms: number, limit: number) => ({
      ...insideUntil(folder, ms),
      limit,
      keysOnly: true,
    });
    const [[dueRange, overRange], waiting] = await Promise.all([
      this.#cluster.read([
        until(this.#keys.due(queue), now, most),
        until(this.#keys.leased(queue), leaseNow, left),
      ]),
      look.isNarrow ? [] : this.#waiting(queue, most),
    ]);
    const [due, over] = [look.isNarrow ? [] : dueRange!.kvs, overRange!.kvs];
    const isOf = (row: TaskRow) => row.queue === queue;
    const isOver = ({ leaseUntil = Number.POSITIVE_INFINITY }: TaskRow) => leaseUntil <= leaseNow;
    const [waits, comes, runsOut] = await Promise.all([
      this.#rowsOf(waiting, look, (row) => isOf(row) && row.waitingSince !== undefined),
      this.#rowsOf(due, look, (row) => isOf(row) && row.dueAt !== undefined && row.dueAt <= now),
      this.#rowsOf(over, look, (row) => isOf(row) && isOver(row)),
    ]);
    return { waiting: waits, due: comes, left: runsOut };
  }

  /** The tasks that wait longest. */
  async #waiting(queue: string, limit: number): Promise<readonly KeyValue[]> {
    const folder = this.#keys.waiting(queue);
    const [range] = await this.#cluster.read([{ ...this.#fronts.range(folder), limit, keysOnly: true }]);
    const { kvs, count = 0 } = range!;
    if (this.#fronts.forgetIfShort(folder, kvs.length, limit)) return this.#waiting(queue, limit);
    const front = this.#fronts.rangeToFind(folder, count);
    if (front) this.#fronts.remember(folder, await this.#keysOf(front));
    return kvs;
  }

  /** In one moment: the turns and callers, and the key that every claim writes which starts a turn. */
  async #schedule(queue: string, look: Look): Promise<NonNullable<Found['schedule']>> {
    const key = this.#keys.queue(queue);
    const [kept, served, leased, turns] = await this.#cluster.read([
      { key },
      { ...inside(this.#keys.served(queue)), keysOnly: true },
      inside(this.#keys.leased(queue)),
      inside(this.#keys.turns(queue)),
    ]);
    const row = kept!.kvs[0];
    look.compare(key, row?.modRevision ?? 0);
    for (const one of served!.kvs) {
      const [turn, caller] = String(one.key).split('/').slice(-2);
      look.served.set(caller!, Math.max(turnOf(turn!), look.served.get(caller!) ?? 0));
    }
    // In the order of a caller: the first key of each is its first task.
    const callers = new Map<string, WaitingCaller>();
    for (const one of turns!.kvs) {
      const [caller, at] = String(one.key).split('/').slice(-3);
      if (callers.has(caller!)) continue;
      const { scope } = placeOf(one);
      callers.set(caller!, { scope, firstAt: turnOf(at!), turn: look.served.get(caller!) ?? 0 });
    }
    return {
      row: row && JSON.parse(String(row.value)).row,
      running: leased!.kvs.map(placeOf),
      callers: [...callers.values()],
    };
  }

  #turns({ queue, callers, limit }: NonNullable<Wanted['turns']>, moment: Moment, look: Look) {
    const each = Math.min(limit, Math.max(1, Math.floor(mostTogether / callers.length)));
    return Promise.all(
      callers.map(({ scope, except }, n) =>
        look.isNarrow || n >= mostTogether
          ? []
          : this.#turnsOf({ queue, scope, except, limit: each }, moment, look),
      ),
    );
  }

  async #turnsOf(
    {
      queue,
      scope,
      except,
      limit,
    }: { queue: string; scope: string; except: readonly string[]; limit: number },
    { now }: Moment,
    look: Look,
  ): Promise<TaskRow[]> {
    const folder = this.#keys.turnsOf(queue, scope);
    const rangeEnd = `${folder}${turnIn(now + 1)}`;
    const isReady = ({ turnAt, waitingSince, dueAt }: TaskRow) =>
      turnAt !== undefined && turnAt <= now && (waitingSince !== undefined || dueAt! <= now);
    const rows: TaskRow[] = [];
    for (let key = folder; ; ) {
      const kvs = await this.#keysOf({ key, rangeEnd, limit: turnsAtOnce });
      const wanted = kvs.filter((one) => !except.includes(placeOf(one).context));
      const isThere = (row: TaskRow) => row.queue === queue && isReady(row);
      for (let start = 0; start < wanted.length && rows.length < limit; start += limit)
        rows.push(...(await this.#rowsOf(wanted.slice(start, start + limit), look, isThere)));
      if (rows.length >= limit || kvs.length < turnsAtOnce) return rows.slice(0, limit);
      key = `${kvs.at(-1)!.key}\0`;
    }
  }

  async #deliveries(
    { queue, limit }: NonNullable<Wanted['deliveries']>,
    { now }: Moment,
    look: Look,
  ): Promise<WebhookRow[]> {
    const most = Math.min(limit, mostTogether);
    const range = { ...insideUntil(this.#keys.deliveries(queue), now), limit: most, keysOnly: true };
    const isReady = (webhook: WebhookRow) =>
      webhook.queue === queue && webhook.readyAt !== undefined && webhook.readyAt <= now;
    const found = await this.#webhooks(await this.#keysOf(range), look, isReady);
    return found.sort((a, b) => a.readyAt! - b.readyAt!).slice(0, limit);
  }

  async #dead({ queue, limit }: NonNullable<Wanted['dead']>, look: Look): Promise<WebhookRow[]> {
    const kvs = [...(await this.#keysOf(inside(this.#keys.dead(queue))))];
    const nameOf = ({ value }: KeyValue) => {
      const [scope, taskId] = JSON.parse(String(value));
      return { scope, taskId, id: '' };
    };
    kvs.sort((a, b) => byName(nameOf(a), nameOf(b)));
    const isDead = (webhook: WebhookRow) => webhook.queue === queue && webhook.dead !== undefined;
    const found = await this.#webhooks(kvs.slice(0, limit), look, isDead, Number.POSITIVE_INFINITY);
    return found.sort(byName).slice(0, limit);
  }

  /** Webhooks with their configs, of the tasks in keys. */
  async #webhooks(
    kvs: readonly KeyValue[],
    look: Look,
    pick: (webhook: WebhookRow) => boolean,
    most = mostBytes,
  ): Promise<WebhookRow[]> {
    const tasks = kvs.map(({ key }) => lastPart(key));
    const ranges = await this.#cluster.read(tasks.map((task) => ({ key: this.#keys.webhooks(task) })));
    const found: WebhookRow[] = [];
    let bytes = 0;
    for (const [n, task] of tasks.entries()) {
      const kept = ranges[n]!.kvs[0];
      bytes += kept?.value?.length ?? 0;
      if (n > 0 && bytes > most) break;
      const known = { row: undefined, revision: 0, snapshotParts: undefined, webhooks: webhooksOf(kept) };
      // What was replaced or removed meanwhile is left out.
      const picked = await this.#reader.withConfigs(task, known, pick);
      if (!picked || picked.length === 0) {
        look.hasMissed = true;
        continue;
      }
      look.add(task, known);
      found.push(...picked);
    }
    return found;
  }

  async #ended({ before, limit }: NonNullable<Wanted['ended']>, look: Look): Promise<TaskRow[]> {
    const folder = this.#keys.ended;
    const most = Math.min(limit, mostTogether);
    const range = { key: folder, rangeEnd: `${folder}${timeIn(before)}`, limit: most, keysOnly: true };
    const kvs = await this.#keysOf(range);
    const known = await this.#reader.rows(
      kvs.map(({ key }) => lastPart(key)),
      look,
      true,
    );
    return known.flatMap(({ row }) => (row?.endedAt !== undefined && row.endedAt < before ? row : []));
  }
}

function placeOf({ value }: KeyValue): PlaceOf {
  return JSON.parse(String(value));
}
