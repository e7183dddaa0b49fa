import { type Answer, type ListedTask, type Scope, StoreError, type TaskPage } from '@batonjs/store';
import { DatabaseClock, type ListSearch, type Rows, Subscribers, type Topic } from '@batonjs/store/adapter';
import { type RowPage, statesOf } from '@batonjs/store/rules';
import { listedFact } from '@batonjs/store/sql';
import { groupsOf, listOf, type RedisDriver } from './connection/driver.ts';
import { type Database, type Shard, script } from './database/database.ts';
import { every } from './lua/every.ts';
import { list as source } from './lua/list.ts';
import { changesOf } from './rows/changes.ts';
import { logsOf, toFact } from './rows/logs.ts';
import { readerOf } from './rows/reader.ts';

export function redisRows(database: Database, driver: RedisDriver): Rows {
  const clock = new DatabaseClock();
  const reader = readerOf(database, clock);
  const subscribers = new Subscribers();
  const change = changesOf(database, reader, clock);
  const logs = logsOf(database, reader);
  let listening: Promise<void> | undefined;

  async function listen(): Promise<void> {
    const { all } = await database.shards();
    await driver.subscribe(
      all.map(({ channel }) => channel),
      (message) => {
        const [number, version] = message.split(' ');
        subscribers.notify(Number(number), version ? Number(version) : undefined);
      },
      () => subscribers.notifyAll(),
    );
  }

  return {
    system: 'redis',
    encode: JSON.stringify,
    read: (wanted) => retryRead(() => reader.find(wanted)),
    change,
    log: (scope: Scope, taskId: string) => retryRead(() => logs.log(scope, taskId)),
    facts: (scope: Scope, taskId: string, after: number, limit: number) =>
      retryRead(() => logs.facts(scope, taskId, after, limit)),
    page: (scope: Scope, search: ListSearch) => retryRead(() => listTasks(database, scope, search)),

    every: (from, limit) => retryRead(() => everyTask(database, from, limit)),
    freeze: (ms) => freeze(database, ms),

    async subscribe(topic: Topic, notify: (version?: number) => void) {
      const unsubscribe = subscribers.add(topic, notify);
      try {
        listening ??= listen();
        await listening;
      } catch (error) {
        listening = undefined;
        unsubscribe();
        throw error;
      }
      return unsubscribe;
    },

    identity: () => retryRead(() => database.identity()),
    probe: () => probe(database),
    ping: () => retryRead(async () => void (await database.identity())),
    close: () => driver.close(),
    parts(): Answer<{ count: number; of(taskId: string): number }> {
      const partsOf = (shards: Awaited<ReturnType<Database['shards']>>) => ({
        count: shards.all.length,
        of: (taskId: string) => shards.all.indexOf(shards.of(taskId)),
      });
      const shards = database.shards();
      return shards instanceof Promise ? shards.then(partsOf) : partsOf(shards);
    },
  };
}

const frozen = () =>
  new StoreError('UNAVAILABLE', 'Redis takes no writes: its tasks are being copied, or were', {
    trouble: 'read-only',
  });

/** Checks that every shard can be written, and that Redis evicts nothing. */
async function probe(database: Database): Promise<void> {
  const { all } = await database.shards();
  await Promise.all(
    all.map(async ({ base }) => {
      const key = `${base}probe`;
      // The key expires, in case this was the last probe.
      await database.command('SET', key, '', 'PX', '60000');
      if (Number(await database.command('EXISTS', `${base}frozen`)) > 0) throw frozen();
      database.mustNotEvict(await database.memory(key));
    }),
  );
}

const everyScript = script(every);

/** See `Rows.every`. A page begins at a shard, and at a cursor of `SCAN` there. Keys that a Cluster moves may be missed. */
async function everyTask(database: Database, from = '0 0', limit: number): Promise<RowPage> {
  const [part, cursor = '0'] = from.split(' ');
  const shards = await database.shards();
  const shard = shards.at(Number(part));
  // The characters that a pattern gives a meaning.
  const pattern = `${shard.base.replaceAll(/[\\*?[\]^-]/g, '\\$&')}task:*`;
  // Keys of other kinds count, too.
  const count = String(Math.max(limit, 500));
  const reply = await database.ofShard(everyScript, shard, [cursor, count, pattern]);
  const [next, ...rows] = listOf(reply).map(String);
  const following = next === '0' ? `${Number(part) + 1} 0` : `${part} ${next}`;
  const isLast = next === '0' && Number(part) + 1 === shards.all.length;
  return { rows: rows.map((row) => JSON.parse(row)), next: isLast ? undefined : following };
}

/** See `Rows.freeze`. Scripts that write look at the key. */
async function freeze(database: Database, ms: number): Promise<void> {
  const { all } = await database.shards();
  const forMs = ms === Number.POSITIVE_INFINITY ? [] : ['PX', String(Math.ceil(ms))];
  for (const { base } of all)
    await (ms > 0
      ? database.command('SET', `${base}frozen`, '', ...forMs)
      : database.command('DEL', `${base}frozen`));
}

/** A read that failed sooner lost its connection. A read that took longer has used its time, in milliseconds. */
const soonMs = 1_000;

/** Repeats a read once if its connection was lost. Unlike a write, a read may be repeated. */
async function retryRead<T>(read: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await read();
  } catch (error) {
    if (!StoreError.is(error, 'UNAVAILABLE') || performance.now() - start > soonMs) throw error;
    return read();
  }
}

const listScript = script(source);

type Place = NonNullable<ListSearch['after']>;

/** The part of a page that one shard offers. */
interface Offer {
  readonly shard: Shard;
  readonly total: number;
  readonly tasks: { readonly task: ListedTask; readonly bytes: number }[];
  /** Whether the shard may have more after these. */
  more: boolean;
  /** Whether it offered fewer tasks than the limit because they are large. */
  readonly isCut: boolean;
}

/** Lists tasks: reads every shard after the same task, and merges the results. */
async function listTasks(database: Database, scope: Scope, search: ListSearch): Promise<TaskPage> {
  const { all } = await database.shards();
  const { limit, bytes = Number.POSITIVE_INFINITY } = search;
  // A page comes from all shards in about equal parts. A shard that has to give more is read again.
  const share = all.length === 1 ? limit : Math.min(limit, 2 + Math.ceil((2 * limit) / all.length));
  const offers = await Promise.all(all.map((shard) => offerOf(database, shard, scope, search, share)));
  const total = offers.reduce((sum, offer) => sum + offer.total, 0);
  const [first] = offers;
  if (first && offers.length === 1) {
    const { tasks, isCut } = first;
    return { tasks: tasks.map(({ task }) => task), total, ...(isCut && { isCut }) };
  }
  const tasks: ListedTask[] = [];
  let left = bytes;
  while (tasks.length < limit) {
    const best = offers.reduce((one, other) =>
      isBefore(other.tasks[0]?.task, one.tasks[0]?.task) ? other : one,
    );
    const next = best.tasks.shift();
    if (!next) break;
    const { task, bytes } = next;
    left -= bytes;
    if (left < 0 && tasks.length > 0) return { tasks, total, isCut: true };
    tasks.push(task);
    if (best.tasks.length > 0 || !best.more) continue;
    const after = { statusAt: task.head.statusAt, taskId: task.taskId };
    const further = await offerOf(database, best.shard, scope, { ...search, after }, share);
    best.tasks.push(...further.tasks);
    best.more = further.more;
  }
  return { tasks, total };
}

async function offerOf(
  database: Database,
  shard: Shard,
  scope: Scope,
  search: ListSearch,
  limit: number,
): Promise<Offer> {
  // The whole page has the limit; a total costs the same with `totalAtMost`.
  const {
    contextId,
    state,
    statusSince,
    after,
    answered,
    terms,
    bytes,
    limit: _,
    totalAtMost,
    ...others
  } = search;
  others satisfies Record<string, never>;
  const states = statesOf({ state, answered });
  const reply = await database.ofShard(listScript, shard, [
    scope,
    statusSince === undefined ? '-inf' : String(Date.parse(statusSince)),
    String(limit),
    after ? String(Date.parse(after.statusAt)) : '',
    after?.taskId ?? '',
    bytes === undefined ? 'inf' : String(bytes),
    String(states.length),
    ...states,
    ...placesOf(scope, contextId, terms),
  ]);
  const [total, cut, ...members] = listOf(reply);
  const tasks = groupsOf(members, 3).map(([taskId = '', row = '', entry = '']) => {
    const { head }: Pick<ListedTask, 'head'> = JSON.parse(row);
    const fact = listedFact(() => toFact(entry, head.statusVersion));
    return { task: { taskId, head, fact }, bytes: entry.length };
  });
  const isCut = cut === 1;
  return { shard, total: Number(total), tasks, isCut, more: isCut || tasks.length === limit };
}

/** The lists that tasks of a search are in, each without its state. */
function placesOf(scope: Scope, contextId: string | undefined, terms: readonly string[]): string[] {
  const places = terms.map((term) => `term:${scope}\0${term}\0`);
  if (contextId !== undefined) places.unshift(`context:${scope}\0${contextId}\0`);
  return places.length > 0 ? places : [`list:${scope}\0`];
}

/** Whether a task comes before another one. A missing task comes last. */
function isBefore(a: ListedTask | undefined, b: ListedTask | undefined): boolean {
  if (!a || !b) return a !== undefined;
  const [one, other] = [placeOf(a), placeOf(b)];
  if (one.statusAt !== other.statusAt) return Date.parse(one.statusAt) > Date.parse(other.statusAt);
  return Buffer.compare(Buffer.from(one.taskId), Buffer.from(other.taskId)) > 0;
}

const placeOf = ({ head, taskId }: ListedTask): Place => ({ statusAt: head.statusAt, taskId });
