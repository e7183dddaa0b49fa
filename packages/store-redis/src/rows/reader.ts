import type {
  DatabaseClock,
  Found,
  FoundTask,
  Moment,
  RecordRow,
  TaskRow,
  Wanted,
  WebhookRow,
} from '@batonjs/store/adapter';
import { askingStates, byName, contextOf, postponed, type WaitingCaller } from '@batonjs/store/rules';
import { groupsOf, listOf, type RedisReply } from '../connection/driver.ts';
import { type Database, type Shard, taskName, vital } from '../database/database.ts';
import { find as source } from '../lua/find.ts';

const findScript = vital(source);

/** How many tasks of a caller one look reads: some of them may not be wanted. */
const turnsAtOnce = 100;

export type Reader = ReturnType<typeof readerOf>;

/** Reads rows, each look in one command. */
export function readerOf(database: Database, clock: DatabaseClock) {
  /** The answers of one shard. `of`: the id of a task that lies there, or the shard. */
  async function ask(
    of: string | Shard,
    questions: readonly Question[],
  ): Promise<Moment & { readonly replies: readonly RedisReply[] }> {
    const args = questions.flatMap(([kind, ...words]) => [String(words.length), kind, ...words]);
    const shard = typeof of === 'string' ? (await database.shards()).of(of) : of;
    const asked = clock.asked();
    const reply = await database.ofShard(findScript, shard, args);
    const [time, ...replies] = listOf(reply);
    return { ...clock.answered(asked, Number(time)), replies };
  }

  async function find(wanted: Wanted): Promise<Found> {
    if (wanted.tasks || wanted.records) return named(wanted);
    const shard = (await database.shards()).at(wanted.part ?? 0);
    if (wanted.turns) return turns(shard, wanted.turns);
    const searches = searchesOf(wanted);
    const asked = searches.flatMap(({ questions }) => questions);
    const { replies, ...moment } = await ask(shard, asked);
    const left = [...replies];
    const found = searches.map((search) => search.found(left.splice(0, search.questions.length)));
    return Object.assign(moment, ...found);
  }

  /** All tasks and records are of one shard. */
  async function named({ tasks = [], webhooks, waiting, records = [], part = 0 }: Wanted): Promise<Found> {
    const questions = tasks.flatMap((task): Question[] => {
      const name = taskName(task.scope, task.taskId);
      const once = task.once === undefined ? [] : [`once:${task.once}`];
      return [
        ['-', 'HMGET', `task:${name}`, 'row', ...once],
        ...(webhooks ? [['-', 'HGETALL', `hooks:${name}`] as const] : []),
      ];
    });
    for (const name of records) questions.push(['-', 'HGET', `record:${name}`, 'row']);
    if (waiting) questions.push(['-', 'ZCARD', `waiting:${waiting.queue}`]);
    const shard = tasks[0]?.taskId ?? (await database.shards()).at(part);
    const { replies, ...moment } = await ask(shard, questions);
    const each = webhooks ? 2 : 1;
    const found = tasks.map((_, n): FoundTask => {
      const [row, once] = listOf(replies[n * each]);
      return {
        row: row ? parse(row) : undefined,
        webhooks: webhooks ? webhooksOf(replies[n * each + 1]) : [],
        once: once ? Number(once) : undefined,
      };
    });
    const kept = replies.slice(tasks.length * each, tasks.length * each + records.length);
    const count = waiting && Number(replies.at(-1));
    const rows = kept.map((row) => (row ? parse<RecordRow>(row) : undefined));
    return { ...moment, tasks: found, waiting: count, records: rows };
  }

  async function turns(
    shard: Shard,
    { queue, callers, limit }: NonNullable<Wanted['turns']>,
  ): Promise<Found> {
    let moment = clock.moment() ?? (await ask(shard, []));
    const found: TaskRow[][] = [];
    for (const { scope, except } of callers) {
      const rows: TaskRow[] = [];
      for (let skip = 0; rows.length < limit; skip += turnsAtOnce) {
        const range = ['-inf', 'NOW', 'LIMIT', String(skip), String(turnsAtOnce)];
        const key = `turns:${queue}\0${scope}`;
        const asked = await ask(shard, [['tasks', 'ZRANGEBYSCORE', key, ...range]]);
        moment = asked;
        const some = rowsOf(asked.replies[0]);
        const isReady = ({ waitingSince, dueAt = Number.POSITIVE_INFINITY }: TaskRow) =>
          waitingSince !== undefined || dueAt <= asked.now;
        rows.push(...some.filter((row) => isReady(row) && !except.includes(contextOf(row))));
        if (some.length < turnsAtOnce) break;
      }
      found.push(rows.slice(0, limit));
    }
    const { now, orderNow, leaseNow } = moment;
    return { now, orderNow, leaseNow, turns: found };
  }

  return { ask, find };
}

function searchesOf({
  held,
  ready,
  schedule,
  deliveries,
  dead,
  ended,
  listed,
  expired,
  waiting,
  bucket,
  counts,
}: Wanted): Search[] {
  const searches: Search[] = [];
  const ask = (questions: readonly Question[], found: Search['found']) => searches.push({ questions, found });
  if (held)
    ask([['tasks', 'ZRANGE', `held:${held.holder}`, '0', '-1']], ([reply]) => {
      const rows = rowsOf(reply).filter(({ queue }) => queue === held.queue);
      return { held: rows.slice(0, held.limit) };
    });
  if (ready) searches.push(readySearch(ready));
  if (schedule) {
    const { queue } = schedule;
    ask(
      [
        ['-', 'HMGET', `queue:${queue}`, 'rev', 'turns'],
        ['tasks', 'ZRANGE', `left:${queue}`, '0', '-1'],
        ['-', 'CALLERS', queue],
      ],
      ([kept, running, callers]) => {
        const [revision, turns] = listOf(kept);
        return {
          schedule: {
            row: revision ? { queue, revision: Number(revision), turns: Number(turns) } : undefined,
            running: rowsOf(running).map((row) => ({ scope: row.scope, context: contextOf(row) })),
            callers: groupsOf(callers, 3).map(toCaller),
          },
        };
      },
    );
  }
  if (deliveries) ask([deliveriesOf(deliveries)], ([reply]) => ({ deliveries: rowsOf<WebhookRow>(reply) }));
  if (dead)
    ask([['hooks', 'ZRANGE', `dead:${dead.queue}`, '0', String(dead.limit - 1)]], ([reply]) => ({
      dead: rowsOf<WebhookRow>(reply),
    }));
  if (ended)
    ask([firstOf('tasks', 'ended', `(${ended.before}`, ended.limit)], ([reply]) => ({
      ended: rowsOf(reply),
    }));
  if (listed) searches.push(recordSearch(listed));
  if (expired) searches.push(expiredSearch(expired));
  if (waiting) ask([['-', 'ZCARD', `waiting:${waiting.queue}`]], ([reply]) => ({ waiting: Number(reply) }));
  if (counts) searches.push(countsSearch(counts.queue));
  if (bucket !== undefined)
    ask([['-', 'GET', `bucket:${bucket}`]], ([reply]) => ({ fullAt: reply ? Number(reply) : undefined }));
  return searches;
}

function recordSearch({ scope, from, until, limit }: NonNullable<Wanted['listed']>): Search {
  const key = scope === undefined ? 'records' : `records-of:${scope}`;
  const range = [`[${from}`, `(${until}`, 'LIMIT', '0', String(limit)];
  return {
    questions: [['records', 'ZRANGEBYLEX', key, ...range]],
    found: ([reply]) => ({ listed: rowsOf<RecordRow>(reply) }),
  };
}

const expiredSearch = ({ limit }: NonNullable<Wanted['expired']>): Search => ({
  questions: [firstOf('records', 'record-ends', 'NOW', limit)],
  found: ([reply]) => ({ expired: rowsOf<RecordRow>(reply) }),
});

const readySearch = ({ queue, limit, left, aheadMs }: NonNullable<Wanted['ready']>): Search => ({
  questions: [
    firstOf('tasks', `waiting:${queue}`, '+inf', limit),
    firstOf('tasks', `due:${queue}`, untilNow(aheadMs), limit),
    firstOf('tasks', `left:${queue}`, untilNow(aheadMs), left),
  ],
  found: ([waiting, due, left]) => ({
    ready: { waiting: rowsOf(waiting), due: rowsOf(due), left: rowsOf(left) },
  }),
});

const untilNow = (aheadMs?: number): string => (aheadMs === undefined ? 'NOW' : `NOW+${aheadMs}`);

/** Asks for the first rows of a sorted set, between two scores. */
const firstOf = (kind: Question[0], key: string, until: string, limit: number, from = '-inf'): Question => [
  kind,
  ...['ZRANGEBYSCORE', key, from, until, 'LIMIT', '0', String(limit)],
];

const deliveriesOf = ({ queue, limit, aheadMs, beyondMs }: NonNullable<Wanted['deliveries']>): Question =>
  beyondMs === undefined
    ? firstOf('hooks', `deliver:${queue}`, untilNow(aheadMs), limit)
    : firstOf('hooks', `deliver:${queue}`, '+inf', limit, `NOW+${Math.ceil(beyondMs)}`);

const parse = <Row = TaskRow>(json: RedisReply): Row => JSON.parse(String(json));

/** Rows of names that were deleted in the meantime are left out. */
const rowsOf = <Row = TaskRow>(reply: RedisReply | undefined): Row[] =>
  listOf(reply)
    .filter((json) => json !== null)
    .map((json) => parse<Row>(json));

const webhooksOf = (reply: RedisReply | undefined): WebhookRow[] =>
  groupsOf(reply, 2)
    .flatMap(([field = '', json = '']) => (field.startsWith('w') ? [parse<WebhookRow>(json)] : []))
    .sort(byName);

const toCaller = ([scope = '', firstAt, turn]: readonly string[]): WaitingCaller => ({
  scope,
  firstAt: Number(firstAt),
  turn: Number(turn),
});

/** The kind of its answer, then a command. */
type Question = readonly [kind: 'tasks' | 'hooks' | 'records' | '-', ...words: string[]];

/** Questions, and what their answers tell. */
interface Search {
  readonly questions: readonly Question[];
  readonly found: (replies: readonly (RedisReply | undefined)[]) => Partial<Found>;
}

/** Counts what lies in a queue, each by the length of a sorted set. */
function countsSearch(queue: string): Search {
  const asked = askingStates.map((state) => `asked:${queue}\0${state}`);
  return {
    questions: [
      ...[`later:${queue}`, `deliver:${queue}`, `dead:${queue}`, ...asked].map(
        (key) => ['-', 'ZCARD', key] as const,
      ),
      ...asked.map((key) => ['-', 'ZRANGE', key, '0', '0', 'WITHSCORES'] as const),
    ],
    found: ([later, undelivered, dead, ...replies]) => ({
      counts: {
        tasks: {
          [postponed]: Number(later),
          ...Object.fromEntries(askingStates.map((state, n) => [state, Number(replies[n])])),
        },
        askedAt: earliest(replies.slice(askingStates.length)),
        undelivered: Number(undelivered),
        dead: Number(dead),
      },
    }),
  };
}

/** The smallest of the first scores; undefined without any. */
function earliest(firsts: readonly (RedisReply | undefined)[]): number | undefined {
  const times = firsts.flatMap((first) => {
    const [, score] = listOf(first);
    return score === undefined || score === null ? [] : [Number(score)];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}
