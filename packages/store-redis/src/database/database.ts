import { createHash, randomUUID } from 'node:crypto';
import { type Scope, StoreError } from '@batonjs/store';
import { type Layouts, stepsFrom } from '@batonjs/store/adapter';
import { crc16 } from '../connection/crc16.ts';
import { listOf, type RedisDriver, type RedisReply } from '../connection/driver.ts';
import { infoOf } from '../connection/servers.ts';

/** Runs commands and scripts on a Redis that is checked before its first use and after every interruption. */
export class Database {
  readonly #driver: RedisDriver;
  readonly #options: StartOptions;
  #epoch = -1;
  #knowsFlags = false;
  #shards: Shards | undefined;
  #starting: Promise<Shards> | undefined;
  #identity: RedisReply | undefined;

  constructor(driver: RedisDriver, options: StartOptions) {
    this.#driver = driver;
    this.#options = options;
  }

  /** The shards, once Redis has been checked. */
  shards(): Shards | Promise<Shards> {
    if (this.#shards && this.#epoch === this.#driver.epoch) return this.#shards;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** The id that was given to the data when tasks were first kept; a new one if Redis was emptied since. */
  async identity(): Promise<string> {
    await this.shards();
    const identity = await this.#keptIdentity();
    // Other data may be in another number of shards.
    if (this.#identity !== undefined && identity !== this.#identity) this.#epoch = -1;
    if (identity === null) this.#epoch = -1;
    await this.shards();
    this.#identity = identity ?? (await this.#keptIdentity());
    return String(this.#identity);
  }

  async #keptIdentity(): Promise<RedisReply | undefined> {
    const { prefix } = this.#options;
    const [id, layout] = listOf(await this.command('HMGET', layoutKey(prefix), 'id', 'layout'));
    // A newer release may have brought the data to a layout that this one does not read.
    if (id) stepsOf(layout, this.#driver, prefix);
    return id;
  }

  /** Runs a script about one task, whose name is its first argument. */
  ofTask(script: Script, taskId: string, name: string, args: readonly string[]): Promise<RedisReply> {
    const known = this.shards();
    if (!(known instanceof Shards)) return known.then(() => this.ofTask(script, taskId, name, args));
    const { base } = known.of(taskId);
    return this.#run(script, `${base}task:${name}`, [base, name], args);
  }

  /** Runs a script about a whole shard. */
  ofShard(script: Script, { base }: Shard, args: readonly string[]): Promise<RedisReply> {
    return this.#run(script, `${base}shard`, [base], args);
  }

  /** The memory section of `INFO`, from the node that has this key. */
  async memory(key: string): Promise<string> {
    return String(await this.#driver.command(key, ['INFO', 'memory']).catch(this.#fail));
  }

  /** Throws `UNUSABLE` if Redis may evict tasks, according to its `INFO`. */
  mustNotEvict(info: string): void {
    mustNotEvict(info, this.#driver.name, this.#options);
  }

  /** Sends one command about a key of a shard. */
  command(name: string, key: string, ...args: readonly string[]): Promise<RedisReply> {
    return this.#driver.command(key, [name, key, ...args]).catch(this.#fail);
  }

  /** Runs a script in the slot of its key. Sends its source only if Redis does not have it cached. */
  #run(script: Script, key: string, first: readonly string[], args: readonly string[]): Promise<RedisReply> {
    const { sha, source } = (this.#knowsFlags && script.whenFull) || script;
    const rest = ['2', key, ...first].concat(args);
    return this.#driver.command(key, ['EVALSHA', sha].concat(rest)).catch((error) => {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) return this.#fail(error);
      return this.#driver.command(key, ['EVAL', source].concat(rest)).catch(this.#fail);
    });
  }

  async #start(): Promise<Shards> {
    try {
      const infos = await this.#driver.info();
      const { epoch } = this.#driver;
      const count = await start(this.#driver, infos, this.#options, this.#shards?.all.length);
      if (this.#shards?.all.length !== count) this.#shards = new Shards(this.#options.prefix, count);
      this.#epoch = epoch;
      this.#knowsFlags = infos.every(knowsFlags);
      return this.#shards;
    } catch (error) {
      return this.#fail(error);
    }
  }

  readonly #fail = (error: unknown): never => {
    if (StoreError.is(error, 'UNAVAILABLE') || StoreError.is(error, 'UNUSABLE')) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const message = `Redis at ${this.#driver.name} refused: ${why}`;
    throw new StoreError('UNAVAILABLE', message, { cause: error, trouble: troubleOf(why) });
  };
}

/** A Lua script and the hash by which Redis caches it. */
interface Script {
  readonly source: string;
  readonly sha: string;
  /** The same script, which Redis also runs while its memory is full. */
  readonly whenFull?: Script;
}

export const script = (source: string): Script => ({
  source,
  sha: createHash('sha1').update(source).digest('hex'),
});

/**
 * A script that ends work or keeps it going, and so has to run while the memory of Redis is full. It adds little data.
 * Redis older than 7.0 cannot do so, and refuses it like other scripts.
 */
export const vital = (source: string): Script => ({
  ...script(source),
  whenFull: script(`#!lua flags=allow-oom\n${source}`),
});

/** Patterns of Redis's refusals, anywhere in the message: scripts put text before them. */
const troubles: readonly (readonly [RegExp, StoreError['trouble']])[] = [
  [/\bOOM command not allowed/, 'out-of-memory'],
  [/\bREADONLY You can't write/, 'read-only'],
  [/\bFROZEN takes no writes/, 'read-only'],
  [/\bMISCONF .*No space left/, 'disk-full'],
];

/** Why Redis does not write, from the message of its refusal. */
const troubleOf = (message: string): StoreError['trouble'] =>
  troubles.find(([pattern]) => pattern.test(message))?.[1];

/**
 * The layouts of the data, see `Layouts`. A test compares them with stored data. The first release that keeps data for
 * later ones began with 900.
 */
export const layouts: Layouts<{ readonly driver: RedisDriver; readonly prefix: string }> = {
  current: 900,
  steps: [],
};
const oldest = [6, 2] as const;
const shardsOfCluster = 16;
const mostShards = 1_024;

interface StartOptions {
  readonly prefix: string;
  readonly shards?: number;
  readonly allowEviction: boolean;
}

/**
 * Checks that this Redis can be used, and resolves to the number of shards of its tasks. Rejects with code
 * `UNUSABLE` if it is too old, may evict tasks, or holds them in another number of shards. `known`: how many
 * shards this process has used so far; a Redis that was emptied meanwhile keeps that number.
 */
async function start(
  driver: RedisDriver,
  infos: readonly string[],
  options: StartOptions,
  known?: number,
): Promise<number> {
  const { prefix, shards } = options;
  const unusable = (why: string) => new StoreError('UNUSABLE', `Redis at ${driver.name} ${why}`);
  for (const info of infos) {
    const version = infoOf(info, 'redis_version') ?? '0';
    if (isOlder(version, oldest))
      throw unusable(`is of version ${version}; ${oldest.join('.')} or newer is needed`);
    mustNotEvict(info, driver.name, options);
  }
  const isCluster = infos.some((info) => infoOf(info, 'cluster_enabled') === '1');
  const wanted = shards ?? known ?? (isCluster ? shardsOfCluster : 1);
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > mostShards)
    throw unusable(`cannot keep tasks in ${wanted} shards: 1 to ${mostShards} are possible`);
  const key = layoutKey(prefix);
  const read = () => driver.command(key, ['HMGET', key, 'shards', 'layout', 'id']);
  let kept = listOf(await read());
  // Written only if missing: a Redis whose memory is full refuses even a write that changes nothing.
  if (kept.includes(null)) {
    await driver.command(key, ['HSETNX', key, 'shards', String(wanted)]);
    await driver.command(key, ['HSETNX', key, 'layout', String(layouts.current)]);
    await driver.command(key, ['HSETNX', key, 'id', randomUUID()]);
    kept = listOf(await read());
  }
  for (const step of stepsOf(kept[1], driver, prefix)) {
    await step.run({ driver, prefix });
    // Another process may have brought the data further.
    await driver.command(key, ['EVAL', raiseLayout, '1', key, String(step.to)]);
  }
  if (shards !== undefined && Number(kept[0]) !== shards) {
    throw unusable(
      `keeps the tasks of "${prefix}" in ${kept[0]} shards, not in ${shards}; the number cannot be changed`,
    );
  }
  return Number(kept[0]);
}

/** The steps that the data of a prefix need. Throws `UNUSABLE` for a layout that this release does not read. */
const stepsOf = (layout: unknown, driver: RedisDriver, prefix: string): typeof layouts.steps =>
  stepsFrom(layout, layouts, {
    data: `"${prefix}" in Redis at ${driver.name}`,
    instead: 'another prefix',
  });

const raiseLayout = `
  if tonumber(redis.call('HGET', KEYS[1], 'layout')) < tonumber(ARGV[1]) then
    redis.call('HSET', KEYS[1], 'layout', ARGV[1])
  end`;

/** The key of the hash with the number of shards, the version of the layout and the id of the data. */
const layoutKey = (prefix: string): string => `${prefix}:layout`;

/** Throws `UNUSABLE` if Redis may evict tasks, according to the memory section of its `INFO`. */
function mustNotEvict(info: string, name: string, { allowEviction }: StartOptions): void {
  const policy = infoOf(info, 'maxmemory_policy') ?? 'noeviction';
  if (!policy.startsWith('allkeys-') || allowEviction) return;
  const message = `Redis at ${name} may evict tasks: maxmemory-policy is ${policy}, and should be noeviction`;
  throw new StoreError('UNUSABLE', message, { trouble: 'may-evict' });
}

/** Whether a server runs scripts that begin with flags, according to its `INFO`: Redis 7.0 and Valkey do. */
const knowsFlags = (info: string): boolean => !isOlder(infoOf(info, 'redis_version') ?? '0', [7, 0]);

function isOlder(version: string, [wantedMajor, wantedMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

/** A part of the tasks, all of whose keys Redis Cluster keeps in one slot. */
export interface Shard {
  /** The prefix of its keys: `baton:{3}:`. Never a key itself. */
  readonly base: string;
  /** The channel of its notifications. */
  readonly channel: string;
}

/** Finds the shard of a task. The braces make Redis Cluster hash the number between them and nothing else. */
export class Shards {
  readonly all: readonly Shard[];

  constructor(prefix: string, count: number) {
    this.all = Array.from({ length: count }, (_, n) => {
      const base = `${prefix}:{${n}}:`;
      return { base, channel: `${base}changes` };
    });
  }

  /** The shard of a task, by its id alone: a claim names no scope. */
  of(taskId: string): Shard {
    return this.at(this.all.length === 1 ? 0 : crc16(taskId) % this.all.length);
  }

  at(part: number): Shard {
    const shard = this.all[part];
    if (!shard) throw new RangeError(`There is no shard ${part} of ${this.all.length}`);
    return shard;
  }
}

/** The name of a task in keys and scripts. Neither id contains NUL. */
export const taskName = (scope: Scope, taskId: string): string => `${taskId}\0${scope}`;
