import type { TaskName } from '@batonjs/store';
import type { Found, Moment, TaskRow, Wanted, WebhookRow } from '@batonjs/store/adapter';
import { byName, readyBetween, type WaitingCaller } from '@batonjs/store/rules';
import {
  due,
  ended,
  held,
  type Index,
  keyIn,
  leased,
  type PlaceOf,
  turns,
  waiting,
} from '../layout/indexes.ts';
import { inside, insideUntil, lastPart, type Range, timeIn, turnIn, turnOf } from '../layout/keys.ts';
import { absent, type Database, webhooksOf } from '../layout/known-task.ts';
import type { KeyValue } from '../wire/messages.ts';
import { queueFronts } from './queue-fronts.ts';
import { rangeStartsOf } from './range-starts.ts';
import type { Reader } from './reader.ts';
import { expiredRecords, type Look, listedRecords, taskIn } from './records.ts';

/** How many tasks one transaction can change, about: etcd takes 128 comparisons. */
const mostTogether = 60;

/** The most bytes of webhooks that one claim writes, unless those of one task are more. */
const mostBytes = 512 * 1024;

/** How often a search is repeated because of what others take meanwhile. */
const mostLooks = 10;

/** How many tasks of a caller are read at once. */
const turnsAtOnce = 100;

type Search<Name extends keyof Wanted> = NonNullable<Wanted[Name]>;

/** Finds rows by the keys of indexes. */
export class Searches {
  readonly #db: Database;
  readonly #reader: Reader;
  readonly #fronts = queueFronts();
  readonly #starts = rangeStartsOf();

  constructor(db: Database, reader: Reader) {
    this.#db = db;
    this.#reader = reader;
  }

  async find(wanted: Wanted, look: Look): Promise<Found> {
    const moment = await this.#reader.moment(wanted);
    const { schedule, ready, deliveries, listed } = wanted;
    // First: a claim by another process after this look makes the write fail.
    const counted = schedule && (await this.#readSchedule(schedule, look));
    const most = schedule ? mostTogether : Number.POSITIVE_INFINITY;
    return {
      ...moment,
      schedule: counted,
      held: wanted.held && (await this.#held(wanted.held, look)),
      ready: ready && (await settled(look, () => this.#ready(ready, most, moment, look))),
      turns: wanted.turns && (await this.#turns(wanted.turns, moment, look)),
      deliveries: deliveries && (await settled(look, () => this.#deliveries(deliveries, moment, look))),
      dead: wanted.dead && (await this.#dead(wanted.dead, look)),
      ended: wanted.ended && (await this.#ended(wanted.ended, look)),
      listed: listed && (await settled(look, () => listedRecords(this.#db, listed, look))),
      expired: wanted.expired && (await expiredRecords(this.#db, wanted.expired, moment, look)),
    };
  }

  /** The rows of the tasks in keys of an index. Those that have left the range meanwhile are missed. */
  async #rowsOf(
    kvs: readonly KeyValue[],
    index: Index,
    { key, rangeEnd }: Range,
    look: Look,
  ): Promise<TaskRow[]> {
    const known = await this.#reader.rows(kvs.map(lastPart), look);
    const rows = known.flatMap(([task, { row }]) => {
      const place = row && keyIn(index, this.#db.keys, task, row);
      return row && place !== undefined && place >= key && place < rangeEnd ? [row] : [];
    });
    if (rows.length < known.length) look.hasMissed = true;
    return rows;
  }

  /** The first tasks of an index in a range. */
  async #first(index: Index, range: Range, limit: number, look: Look): Promise<TaskRow[]> {
    const [{ kvs }] = await this.#db.cluster.read([{ ...range, limit, keysOnly: true }]);
    return this.#rowsOf(kvs, index, range, look);
  }

  #held({ queue, holder, limit }: Search<'held'>, look: Look): Promise<TaskRow[]> {
    return this.#first(held, inside(this.#db.keys.heldBy(queue, holder)), limit, look);
  }

  async #ready(
    wanted: Search<'ready'>,
    most: number,
    moment: Moment,
    look: Look,
  ): Promise<NonNullable<Found['ready']>> {
    const { queue, limit, left, aheadMs = 0 } = wanted;
    const { now, leaseNow } = moment;
    const folder = this.#db.keys.waiting(queue);
    const comes = insideUntil(this.#db.keys.due(queue), now + aheadMs);
    const ends = insideUntil(this.#db.keys.leased(queue), leaseNow + aheadMs);
    const some = { limit: Math.min(limit, most), keysOnly: true };
    const oldest = this.#fronts.range(folder);
    // A long queue has other tasks for this claim. In a short one, a task that is missed may be the only one.
    const isLong = this.#fronts.has(folder);
    const from = (range: Range) => (isLong ? this.#starts.from(range) : range);
    const [first, dueKeys, leasedKeys] = await this.#db.cluster.read([
      { ...from(oldest), ...some },
      { ...from(comes), ...some },
      { ...from(ends), ...some, limit: left },
    ]);
    if (this.#fronts.forgetIfShort(folder, first.kvs.length, some.limit))
      return this.#ready(wanted, most, moment, look);
    this.#starts.remember(oldest, first.kvs);
    this.#starts.remember(comes, dueKeys.kvs);
    this.#starts.remember(ends, leasedKeys.kvs);
    const front = this.#fronts.rangeToFind(folder, first.count);
    if (front) {
      const [{ kvs }] = await this.#db.cluster.read([front]);
      this.#fronts.remember(folder, kvs);
    }
    const [waits, come, over] = await Promise.all([
      this.#rowsOf(look.isNarrow ? [] : first.kvs, waiting, inside(folder), look),
      this.#rowsOf(look.isNarrow ? [] : dueKeys.kvs, due, comes, look),
      this.#rowsOf(leasedKeys.kvs, leased, ends, look),
    ]);
    return { waiting: waits, due: come, left: over };
  }

  /** In one moment: the turns and callers, and the key that every claim writes which starts a turn. */
  async #readSchedule({ queue }: Search<'schedule'>, look: Look): Promise<NonNullable<Found['schedule']>> {
    const key = this.#db.keys.queue(queue);
    const [served, ordered] = [inside(this.#db.keys.served(queue)), inside(this.#db.keys.turns(queue))];
    const [kept, servedKeys, running, turnKeys] = await this.#db.cluster.read([
      { key },
      { ...served, keysOnly: true },
      inside(this.#db.keys.leased(queue)),
      ordered,
    ]);
    const [row] = kept.kvs;
    look.compare(key, row?.modRevision);
    for (const one of servedKeys.kvs) {
      const [turn = '', caller = ''] = partsIn(served, one);
      look.served.set(caller, Math.max(turnOf(turn), look.served.get(caller) ?? 0));
    }
    // In the order of a caller: the first key of each is its first task.
    const callers = new Map<string, WaitingCaller>();
    for (const one of turnKeys.kvs) {
      const [caller = '', at = ''] = partsIn(ordered, one);
      if (callers.has(caller)) continue;
      const { scope } = placeOf(one);
      callers.set(caller, { scope, firstAt: turnOf(at), turn: look.served.get(caller) ?? 0 });
    }
    return {
      row: row && JSON.parse(String(row.value)).row,
      running: running.kvs.map(placeOf),
      callers: [...callers.values()],
    };
  }

  #turns({ queue, callers, limit }: Search<'turns'>, moment: Moment, look: Look) {
    const each = Math.min(limit, Math.max(1, Math.floor(mostTogether / callers.length)));
    return Promise.all(
      callers.map((caller, n) =>
        look.isNarrow || n >= mostTogether ? [] : this.#turnsOf(queue, caller, each, moment, look),
      ),
    );
  }

  async #turnsOf(
    queue: string,
    { scope, except }: Search<'turns'>['callers'][number],
    limit: number,
    { now, orderNow }: Moment,
    look: Look,
  ): Promise<TaskRow[]> {
    const range = insideUntil(this.#db.keys.turnsOf(queue, scope), orderNow, turnIn);
    const rows: TaskRow[] = [];
    for (let { key } = range; ; ) {
      const [{ kvs }] = await this.#db.cluster.read([{ ...range, key, limit: turnsAtOnce }]);
      const wanted = kvs.filter((one) => !except.includes(placeOf(one).context));
      for (let start = 0; start < wanted.length && rows.length < limit; start += limit) {
        const some = await this.#rowsOf(wanted.slice(start, start + limit), turns, range, look);
        rows.push(...some.filter(({ dueAt }) => dueAt === undefined || dueAt <= now));
      }
      const last = kvs.at(-1);
      if (rows.length >= limit || !last || kvs.length < turnsAtOnce) return rows.slice(0, limit);
      key = `${last.key}\0`;
    }
  }

  async #deliveries(wanted: Search<'deliveries'>, { now }: Moment, look: Look): Promise<WebhookRow[]> {
    const { queue, limit } = wanted;
    const folder = this.#db.keys.deliveries(queue);
    const [after, until] = readyBetween(wanted, now);
    const range = { ...insideUntil(folder, until), key: `${folder}${timeIn(after)}` };
    const some = { limit: Math.min(limit, mostTogether), keysOnly: true };
    const [{ kvs }] = await this.#db.cluster.read([{ ...range, ...some }]);
    const isReady = (webhook: WebhookRow) =>
      webhook.queue === queue && readyAt(webhook) > after && readyAt(webhook) <= until;
    const found = await this.#webhooks(kvs, look, isReady, mostBytes);
    return found.sort((a, b) => readyAt(a) - readyAt(b)).slice(0, limit);
  }

  async #dead({ queue, limit }: Search<'dead'>, look: Look): Promise<WebhookRow[]> {
    const [{ kvs }] = await this.#db.cluster.read([inside(this.#db.keys.dead(queue))]);
    const named = kvs.map((kv) => ({ kv, ...nameIn(kv), id: '' })).sort(byName);
    const isDead = (webhook: WebhookRow) => webhook.queue === queue && webhook.dead !== undefined;
    const first = named.slice(0, limit).map(({ kv }) => kv);
    const found = await this.#webhooks(first, look, isDead, Number.POSITIVE_INFINITY);
    return found.sort(byName).slice(0, limit);
  }

  /** Webhooks with their configs, of the tasks in keys. */
  async #webhooks(
    kvs: readonly KeyValue[],
    look: Look,
    pick: (webhook: WebhookRow) => boolean,
    most: number,
  ): Promise<WebhookRow[]> {
    const tasks = kvs.map(lastPart);
    const found: WebhookRow[] = [];
    let bytes = 0;
    for (const [task, kept] of await this.#kept(tasks)) {
      bytes += kept?.value.length ?? 0;
      if (task !== tasks[0] && bytes > most) break;
      const webhooks = webhooksOf(kept);
      // What was replaced or removed meanwhile is left out.
      const picked = await this.#reader.withConfigs(task, webhooks, pick);
      if (picked && picked.length > 0) {
        look.add(task, { ...absent, webhooks });
        found.push(...picked);
      } else look.hasMissed = true;
    }
    return found;
  }

  /** The webhooks of tasks as they are kept. */
  #kept(tasks: readonly string[]) {
    return this.#db.cluster.getEach(tasks, (task) => ({ key: this.#db.keys.webhooks(task) }));
  }

  async #ended({ before, limit }: Search<'ended'>, look: Look): Promise<TaskRow[]> {
    const range = insideUntil(this.#db.keys.ended, before - 1);
    const rows = await this.#first(ended, range, Math.min(limit, mostTogether), look);
    const having = rows.filter(({ webhooks }) => webhooks > 0).map(taskIn);
    // Their webhooks are deleted with them.
    for (const [task, kept] of await this.#kept(having))
      look.add(task, { ...absent, webhooks: webhooksOf(kept) });
    return rows;
  }
}

/** Looks again if others took rows between the look at the keys and that at the rows: there may be more. */
async function settled<T>(look: Look, search: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    look.hasMissed = false;
    const found = await search();
    if (!look.hasMissed || looks === mostLooks) return found;
  }
}

const placeOf = ({ value }: KeyValue): PlaceOf => JSON.parse(String(value));

/** The parts of a key after its folder. */
const partsIn = (folder: Range, { key }: KeyValue): string[] =>
  String(key).slice(folder.key.length).split('/');

function nameIn({ value }: KeyValue): TaskName {
  const [scope, taskId] = JSON.parse(String(value));
  return { scope, taskId };
}

const readyAt = (webhook: WebhookRow): number => webhook.readyAt ?? Number.POSITIVE_INFINITY;
