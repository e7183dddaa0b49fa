import {
  byName,
  type Found,
  type FoundTask,
  type Moment,
  type TaskRow,
  type WaitingCaller,
  type Wanted,
  type WebhookRow,
} from '@batonjs/store';
import type { RedisReply } from '../connection/driver.ts';
import type { Database } from '../database/database.ts';
import { vital } from '../database/script.ts';
import type { Shard } from '../database/shards.ts';
import { taskName } from '../database/shards.ts';
import { find as source } from '../lua/find.ts';
import type { RedisClock } from './redis-clock.ts';

const findScript = vital(source);

/** The kind of its answer, then a command. */
type Question = readonly [kind: 'tasks' | 'hooks' | '-', ...words: string[]];

/** What one answer tells, which may be a part of a member. */
type Part = { readonly [Name in keyof Found]?: Partial<Found[Name]> };

/** A question, and what its answer tells. */
interface Search {
  readonly question: Question;
  readonly found: (reply: RedisReply) => Part;
}

/** How many tasks of a caller one look reads: some of them may not be wanted. */
const turnsAtOnce = 100;

/** Reads rows, each look in one command. */
export class Reader {
  readonly #database: Database;
  readonly #clock: RedisClock;

  constructor(database: Database, clock: RedisClock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The answers of one shard. `of`: the id of a task that lies there, or the shard. */
  async ask(
    of: string | Shard,
    questions: readonly Question[],
  ): Promise<Moment & { readonly replies: readonly RedisReply[] }> {
    const args = questions.flatMap(([kind, ...words]) => [String(words.length), kind, ...words]);
    const shard = typeof of === 'string' ? (await this.#database.shards()).of(of) : of;
    const asked = this.#clock.asked();
    const reply = await this.#database.ofShard(findScript, shard, args);
    const [time, ...replies] = reply as readonly RedisReply[];
    return { ...this.#clock.answered(asked, Number(time)), replies };
  }

  async find(wanted: Wanted): Promise<Found> {
    if (wanted.tasks) return this.#named(wanted);
    if (wanted.turns) return this.#turns(wanted);
    const searches = searchesOf(wanted);
    const { all } = await this.#database.shards();
    const questions = searches.map(({ question }) => question);
    const { replies, ...moment } = await this.ask(all[wanted.part ?? 0]!, questions);
    const found = searches.map((search, n) => search.found(replies[n]!));
    const ready = Object.assign({}, ...found.map((one) => one.ready));
    const schedule = Object.assign({}, ...found.map((one) => one.schedule));
    const merged = { ...(wanted.ready && { ready }), ...(wanted.schedule && { schedule }) };
    return Object.assign(moment, ...found, merged);
  }

  /** All tasks are of one shard. */
  async #named({ tasks = [], webhooks, waiting }: Wanted): Promise<Found> {
    const questions = tasks.flatMap((task): Question[] => {
      const name = taskName(task.scope, task.taskId);
      const once = task.once === undefined ? [] : [`once:${task.once}`];
      return [
        ['-', 'HMGET', `task:${name}`, 'row', ...once],
        ...(webhooks ? [['-', 'HGETALL', `hooks:${name}`] as const] : []),
      ];
    });
    if (waiting) questions.push(['-', 'ZCARD', `waiting:${waiting.queue}`]);
    const { replies, ...moment } = await this.ask(tasks[0]!.taskId, questions);
    const each = webhooks ? 2 : 1;
    const found = tasks.map((_, n): FoundTask => {
      const [row, once] = replies[n * each] as readonly (string | null | undefined)[];
      return {
        row: row ? parse(row) : undefined,
        webhooks: webhooks ? webhooksOf(replies[n * each + 1] as readonly string[]) : [],
        once: once ? Number(once) : undefined,
      };
    });
    const count = waiting && Number(replies.at(-1));
    return { ...moment, tasks: found, waiting: count };
  }

  async #turns({ turns, part = 0 }: Wanted): Promise<Found> {
    const { queue, callers, limit } = turns!;
    const { all } = await this.#database.shards();
    let moment = this.#clock.moment();
    const found: TaskRow[][] = [];
    for (const { scope, except } of callers) {
      const rows: TaskRow[] = [];
      for (let skip = 0; rows.length < limit; skip += turnsAtOnce) {
        const range = ['-inf', 'NOW', 'LIMIT', String(skip), String(turnsAtOnce)];
        const key = `turns:${queue}\0${scope}`;
        const asked = await this.ask(all[part]!, [['tasks', 'ZRANGEBYSCORE', key, ...range]]);
        moment = asked;
        const some = rowsOf(asked.replies[0]!);
        const isReady = ({ waitingSince, dueAt }: TaskRow) =>
          waitingSince !== undefined || dueAt! <= asked.now;
        rows.push(...some.filter((row) => isReady(row) && !except.includes(row.head!.contextId)));
        if (some.length < turnsAtOnce) break;
      }
      found.push(rows.slice(0, limit));
    }
    const { now, orderNow, leaseNow } = moment;
    return { now, orderNow, leaseNow, turns: found };
  }
}

function searchesOf({ held, ready, schedule, deliveries, dead, ended, waiting, bucket }: Wanted): Search[] {
  const searches: Search[] = [];
  const ask = (question: Question, found: Search['found']) => searches.push({ question, found });
  const first = (limit: number) => ['LIMIT', '0', String(limit)];
  if (held)
    ask(['tasks', 'ZRANGE', `held:${held.holder}`, '0', '-1'], (reply) => ({
      held: rowsOf(reply)
        .filter(({ queue }) => queue === held.queue)
        .slice(0, held.limit),
    }));
  if (ready)
    for (const [kind, until] of Object.entries({ waiting: '+inf', due: 'NOW', left: 'NOW' }))
      ask(
        [
          'tasks',
          'ZRANGEBYSCORE',
          `${kind}:${ready.queue}`,
          '-inf',
          until,
          ...first(kind === 'left' ? ready.left : ready.limit),
        ],
        (reply) => ({ ready: { [kind]: rowsOf(reply) } }),
      );
  if (schedule) {
    const { queue } = schedule;
    const part = (found: Partial<NonNullable<Found['schedule']>>) => ({
      schedule: found,
    });
    ask(['-', 'HMGET', `queue:${queue}`, 'rev', 'turns'], (reply) => {
      const [revision, turns] = reply as readonly (string | null)[];
      return part({
        row: revision ? { queue, revision: Number(revision), turns: Number(turns) } : undefined,
      });
    });
    ask(['tasks', 'ZRANGE', `left:${queue}`, '0', '-1'], (reply) =>
      part({ running: rowsOf(reply).map(({ scope, head }) => ({ scope, context: head!.contextId })) }),
    );
    ask(['-', 'CALLERS', queue], (reply) => part({ callers: toCallers(reply as string[]) }));
  }
  if (deliveries)
    ask(
      ['hooks', 'ZRANGEBYSCORE', `deliver:${deliveries.queue}`, '-inf', 'NOW', ...first(deliveries.limit)],
      (reply) => ({ deliveries: rowsOf<WebhookRow>(reply) }),
    );
  if (dead)
    ask(['hooks', 'ZRANGE', `dead:${dead.queue}`, '0', String(dead.limit - 1)], (reply) => ({
      dead: rowsOf<WebhookRow>(reply),
    }));
  if (ended)
    ask(['tasks', 'ZRANGEBYSCORE', 'ended', '-inf', `(${ended.before}`, ...first(ended.limit)], (reply) => ({
      ended: rowsOf(reply),
    }));
  if (waiting) ask(['-', 'ZCARD', `waiting:${waiting.queue}`], (reply) => ({ waiting: Number(reply) }));
  if (bucket !== undefined)
    ask(['-', 'GET', `bucket:${bucket}`], (reply) => ({
      fullAt: reply === null ? undefined : Number(reply),
    }));
  return searches;
}

const parse = <Row = TaskRow>(json: string): Row => JSON.parse(json);

/** Rows of names that were deleted in the meantime are left out. */
const rowsOf = <Row = TaskRow>(reply: RedisReply): Row[] =>
  (reply as readonly (string | null)[]).flatMap((json) => (json ? [parse<Row>(json)] : []));

/** The webhooks in a hash. */
function webhooksOf(fields: readonly string[]): WebhookRow[] {
  const webhooks: WebhookRow[] = [];
  for (let n = 0; n < fields.length; n += 2)
    if (fields[n]!.startsWith('w')) webhooks.push(parse<WebhookRow>(fields[n + 1]!));
  return webhooks.sort(byName);
}

function toCallers(reply: readonly string[]): WaitingCaller[] {
  const callers: WaitingCaller[] = [];
  for (let n = 0; n < reply.length; n += 3)
    callers.push({ scope: reply[n]!, firstAt: Number(reply[n + 1]), turn: Number(reply[n + 2]) });
  return callers;
}
