import {
  type Change,
  changedRow,
  type FoundTask,
  type RecordRow,
  type Replaced,
  type TaskWrite,
  type Wanted,
  type WebhookRow,
} from '@batonjs/store/adapter';
import { forgottenTurns } from '@batonjs/store/rules';
import { taskName } from '../database/database.ts';
import { movesInLists, movesInQueues, movesOfRecord, movesOfWebhook } from './places.ts';

/** What has to be so: a command, its key, its argument or nothing, and what it must answer. */
type Check = readonly [command: 'HGET' | 'GET' | 'ZCARD', key: string, field: string, expected: string];

/** Commands that are run together if all checks hold. */
export class Group {
  readonly #checks: string[] = [];
  readonly #commands: string[] = [];
  #count = 0;

  /** Everything in it as the arguments of the script. */
  get args(): string[] {
    return [String(this.#checks.length / 4)].concat(this.#checks, [String(this.#count)], this.#commands);
  }

  check(...[command, key, field, expected]: Check): void {
    this.#checks.push(command, key, field, expected);
  }

  run(command: string, key: string, ...words: readonly string[]): void {
    this.#count++;
    this.#commands.push(String(words.length + 2), command, key, ...words);
  }

  /** What was found of a task must still be so. Its revision grows with each `once` key, but may be known without them. */
  checkTask(
    { scope, taskId, once }: NonNullable<Wanted['tasks']>[number],
    { row, ...found }: FoundTask,
  ): void {
    const key = `task:${taskName(scope, taskId)}`;
    this.check('HGET', key, 'rev', row ? String(row.revision) : '');
    if (row && once !== undefined) this.check('HGET', key, `once:${once}`, String(found.once ?? ''));
    for (const webhook of found.webhooks) this.checkWebhook(webhook);
  }

  checkWebhook({ scope, taskId, id, revision }: WebhookRow): void {
    this.check('HGET', `hooks:${taskName(scope, taskId)}`, `r${id}`, String(revision));
  }

  writeTask(write: TaskWrite): void {
    const { before, after, facts = [], commitId, snapshot, once } = write;
    const { scope, taskId } = changedRow(write);
    const name = taskName(scope, taskId);
    this.#move(taskId, movesInLists(before, after));
    this.#move(name, movesInQueues(before, after));
    if (!after) {
      for (const key of ['task', 'log']) this.run('UNLINK', `${key}:${name}`);
      this.run('DROP', `hooks:${name}`);
      return;
    }
    if (after.turnAt !== undefined && after.turnAt !== before?.turnAt)
      this.run('SADD', `callers:${after.queue}`, scope);
    const fields = ['row', JSON.stringify(after), 'rev', String(after.revision)];
    if (snapshot) fields.push('snapshot', snapshot.json, 'from', String(snapshot.version));
    if (once !== undefined) fields.push(`once:${once}`, String((before?.version ?? 0) + 1));
    this.run('HSET', `task:${name}`, ...fields);
    // One command takes a bounded number of words.
    for (let n = 0; n < facts.length; n += mostEntries) {
      const entries = facts.slice(n, n + mostEntries).map((fact) => `${commitId}\0${fact}`);
      this.run('RPUSH', `log:${name}`, ...entries);
    }
  }

  writeWebhook(write: Replaced<WebhookRow>): void {
    const { before, after } = write;
    const { scope, taskId, id } = changedRow(write);
    const key = `hooks:${taskName(scope, taskId)}`;
    this.#move(`${scope}\0${taskId}\0${id}`, movesOfWebhook(before, after));
    if (after) this.run('HSET', key, `w${id}`, JSON.stringify(after), `r${id}`, String(after.revision));
    else this.run('HDEL', key, `w${id}`, `r${id}`);
  }

  checkRecord(name: string, row: RecordRow | undefined): void {
    this.check('HGET', `record:${name}`, 'rev', row ? String(row.revision) : '');
  }

  writeRecord(write: Replaced<RecordRow>): void {
    const { before, after } = write;
    const { name } = changedRow(write);
    this.#move(name, movesOfRecord(before, after));
    if (after)
      this.run('HSET', `record:${name}`, 'row', JSON.stringify(after), 'rev', String(after.revision));
    else this.run('UNLINK', `record:${name}`);
  }

  writeQueue({ queue, callers = [] }: Change<unknown>): void {
    if (!queue) return;
    const { queue: name, turns, revision } = changedRow(queue);
    const key = `queue:${name}`;
    this.check('HGET', key, 'rev', queue.before ? String(queue.before.revision) : '');
    this.run('HSET', key, 'turns', String(turns), 'rev', String(revision));
    const served = `served:${name}`;
    for (const { scope, turn } of callers) this.run('ZADD', served, String(turn), scope);
    this.run('ZREMRANGEBYSCORE', served, '-inf', String(forgottenTurns(turns)));
  }

  #move(member: string, moves: readonly string[]): void {
    if (moves.length > 0) this.run('MOVE', member, ...moves);
  }
}

/** How many facts one command adds. */
const mostEntries = 1_000;
