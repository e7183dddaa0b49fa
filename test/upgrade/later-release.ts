import { join } from 'node:path';
import { builtPrograms } from '../support/built-program.ts';

/** A text of a source, and what stands there in a later release. */
type Change = readonly [text: string, instead: string];
/** Changes by source, its path below the root. */
type Changes = Readonly<Record<string, readonly Change[]>>;

const sqlite = 'packages/store-sqlite/src/sql/schema.ts';
const postgres = 'packages/store-postgres/src/database/schema.ts';
const redis = 'packages/store-redis/src/database/database.ts';
const etcd = 'packages/store-etcd/src/layout/keys.ts';
const columns = 'packages/store/src/adapter/sql-columns.ts';
const places = 'packages/store-redis/src/rows/places.ts';
const indexes = 'packages/store-etcd/src/layout/indexes.ts';

const lastAt = "['last_at', 'text', ({ lastAt }) => lastAt],";
const endedInRedis = "{ key: () => 'ended', score: ({ endedAt }) => endedAt },";
const endedInEtcd =
  'export const ended: Index = { at: ({ endedAt }) => endedAt, folder: (keys) => keys.ended };';

const layouts = (current: number, ...steps: string[]) => `current: ${current}, steps: [${steps.join(', ')}]`;
const step = (from: number, to: number, database: string, statements: string) =>
  `{ from: ${from}, to: ${to}, run: async (${database}) => { ${statements} } }`;
const synchronous = (text: string) => text.replace('async ', '');

/** As three of the sources have it. */
const openLayouts = 'current: 900,\n  steps: []';

/** The members of a sorted set are in another one, too; `before`: and not in it any more. */
const moveInRedis = (before: string) => `
  const { driver, prefix } = database;
  const shards = Number(await driver.command(prefix + ':layout', ['HGET', prefix + ':layout', 'shards']));
  for (let n = 0; n < shards; n++) {
    const [from, to] = ['ended', 'closed'].map((key) => prefix + ':{' + n + '}:' + key);
    await driver.command(to, ['ZUNIONSTORE', to, '2', from, to, 'AGGREGATE', 'MAX']);
    ${before}
  }`;

const moveInEtcd = (before: string) => `
  const { cluster, keys } = database;
  const [from, to] = [keys.ended, keys.ended.replace(/ended.$/, 'closed/')];
  const [{ kvs }] = await cluster.read([{ key: from, rangeEnd: from.slice(0, -1) + '0' }]);
  for (const { key, value } of kvs) {
    const moved = { put: { key: to + String(key).slice(from.length), value } };
    await cluster.transact({ success: [moved${before}] });
  }`;

const sqlitesSteps = [
  synchronous(step(900, 901, 'db', "db.exec('ALTER TABLE tasks ADD COLUMN latest_at TEXT');")),
  synchronous(
    step(
      901,
      1000,
      'db',
      "db.exec('UPDATE tasks SET latest_at = last_at; ALTER TABLE tasks DROP COLUMN last_at');",
    ),
  ),
] as const;
const postgresSteps = [
  step(
    900,
    901,
    '{ session, schema }',
    `await session.query(\`ALTER TABLE \${schema}.tasks ADD COLUMN latest_at text COLLATE "C"\`);`,
  ),
  step(
    901,
    1000,
    '{ session, schema }',
    `await session.query(\`UPDATE \${schema}.tasks SET latest_at = last_at\`);
     await session.query(\`ALTER TABLE \${schema}.tasks DROP COLUMN last_at\`);`,
  ),
] as const;
const redisSteps = [
  step(900, 901, 'database', moveInRedis('')),
  step(901, 1000, 'database', moveInRedis("await driver.command(from, ['DEL', from]);")),
] as const;
const etcdSteps = [
  step(900, 901, 'database', moveInEtcd('')),
  step(901, 1000, 'database', moveInEtcd(', { delete: { key } }')),
] as const;

/** A fact has another member, and a snapshot has another member in place of one: in both releases. */
const ofFacts: Changes = {
  'packages/lifecycle/src/decide/decide-turn.ts': [
    [
      "type: 'turn-started',\n        turn: turns + 1,",
      "type: 'turn-started', begunBy: 'later', turn: turns + 1,",
    ],
  ],
  'packages/lifecycle/src/state/snapshot.ts': [
    ['export const SNAPSHOT_FORMAT = 1;', 'export const SNAPSHOT_FORMAT = 2;'],
    ['version: state.version, state: plain };', 'version: state.version, state: renamed(plain) };'],
    [
      'fromSnapshot({ format, state }: Snapshot): State {',
      `fromSnapshot({ format, state: kept }: Snapshot): State {
        const { begunTurns, ...others } = kept;
        const state = format === 1 ? kept : { ...others, turns: begunTurns };`,
    ],
    [
      '/** The state of a snapshot.',
      `const renamed = ({ turns, ...plain }) => ({ ...plain, begunTurns: turns });
       /** The state of a snapshot.`,
    ],
  ],
};

/**
 * Two pretended releases after this one. `next` adds: a column, keys, a member of a fact and a format of snapshots; it works
 * beside this release. `afterNext` is of another generation: what `next` added is there in place of what was before, and facts
 * have another format.
 */
const releases = {
  next: {
    ...ofFacts,
    [columns]: [[lastAt, `${lastAt} ['latest_at', 'text?', ({ lastAt }) => lastAt],`]],
    'packages/store-sqlite/src/sql/database.ts': [["'last_at')", "'last_at', 'latest_at')"]],
    [sqlite]: [[layouts(900), layouts(901, sqlitesSteps[0])]],
    [postgres]: [[openLayouts, layouts(901, postgresSteps[0])]],
    [redis]: [[openLayouts, layouts(901, redisSteps[0])]],
    [places]: [[endedInRedis, `${endedInRedis} ${endedInRedis.replace("'ended'", "'closed'")}`]],
    [etcd]: [[openLayouts, layouts(901, etcdSteps[0])]],
    [indexes]: [
      [
        endedInEtcd,
        `${endedInEtcd} const closed = { ...ended, folder: (keys) => keys.ended.replace(/ended.$/, 'closed/') };`,
      ],
      ['turns, held, ended]', 'turns, held, ended, closed]'],
    ],
  },
  afterNext: {
    ...ofFacts,
    'packages/lifecycle/src/facts/facts.ts': [
      ['export const FACT_FORMAT = 1;', 'export const FACT_FORMAT = 2;'],
    ],
    [columns]: [
      [lastAt, "['latest_at', 'text', ({ lastAt }) => lastAt],"],
      ['String(found.last_at)', 'String(found.latest_at)'],
    ],
    'packages/store-sqlite/src/sql/database.ts': [["'last_at')", "'latest_at')"]],
    [sqlite]: [[layouts(900), layouts(1000, ...sqlitesSteps)]],
    [postgres]: [[openLayouts, layouts(1000, ...postgresSteps)]],
    [redis]: [[openLayouts, layouts(1000, ...redisSteps)]],
    [places]: [[endedInRedis, endedInRedis.replace("'ended'", "'closed'")]],
    'packages/store-redis/src/rows/reader.ts': [["firstOf('tasks', 'ended',", "firstOf('tasks', 'closed',"]],
    [etcd]: [[openLayouts, layouts(1000, ...etcdSteps)]],
    [indexes]: [[endedInEtcd, endedInEtcd.replace('keys.ended', "keys.ended.replace(/ended.$/, 'closed/')")]],
    'packages/store-etcd/src/rows/searches.ts': [
      ['this.#db.keys.ended', "this.#db.keys.ended.replace(/ended.$/, 'closed/')"],
    ],
  },
} as const satisfies Record<string, Changes>;

export type Release = 'this' | keyof typeof releases;

const programs = [
  'packages/cli/src/main.ts',
  'scripts/chaos/server.ts',
  'scripts/upgrade/{read-all,rehearse}.ts',
];

/**
 * A program of the rehearsal as a release has it: built from the sources as they are, with their changes. `path`: below the
 * root. Rejects if a text that is to be changed is not in its source, or not once, or if its source is not in any program.
 */
export async function programOf(release: Release, path: string): Promise<string> {
  const changes: Changes = release === 'this' ? {} : releases[release];
  const left = new Set(Object.keys(changes));
  const folder = await builtPrograms(`programs-${release}`, programs, (source, text) => {
    left.delete(source);
    return (changes[source] ?? []).reduce((before, [found, instead]) => {
      const [first = '', second, ...more] = before.split(found);
      if (second === undefined || more.length > 0)
        throw new Error(`${source}: ${release} changes a text that is not there, or not once: ${found}`);
      return `${first}${instead}${second}`;
    }, text);
  });
  return join(folder, path.replace(/\.ts$/, '.mjs'));
}
