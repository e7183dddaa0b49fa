import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { pushConfigChecks, runCheck, taskStoreChecks } from '@batonjs/store-conformance/checks';
import pg from 'pg';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { type RemoteStores, startStoreProcess } from '../../../test/support/remote-stores.ts';
import { type PostgresStoreOptions, postgresStore } from '../src/index.ts';
import { emptied } from './empty.ts';

/** The sections whose checks wait for notifications. */
const notifying = ['subscribe', 'follow', 'close'];

const postgres = await postgresForTests();

describe.skipIf(!postgres)('PostgreSQL', () => {
  // The name needs quotes, as any name may.
  const schema = `Baton's "conformance" ${process.pid}`;
  const quoted = schema.replaceAll('"', '""');
  const [pool, admin] = [8, 1].map((max) => new pg.Pool({ connectionString: postgres?.url, max }));
  let other: RemoteStores;
  beforeAll(() => {
    other = startStoreProcess();
  });
  afterAll(async () => {
    await other.kill();
    await admin!.query(`DROP SCHEMA IF EXISTS "${quoted}" CASCADE`);
    await Promise.all([pool!.end(), admin!.end()]);
  });

  async function open(options: PostgresStoreOptions) {
    const store = postgresStore(pool!, { schema, textSearch: true, ...options });
    await store.identity();
    await admin!.query(emptied(quoted).join(';'));
    const reopen = async () => {
      await store.close();
      return postgresStore(pool!, { schema, ...options });
    };
    return { store, reopen };
  }

  const polling = async () => {
    const options = { notify: false };
    return { ...(await open(options)), second: postgresStore(pool!, { schema, ...options }) };
  };
  const inTwoProcesses = async () => ({
    ...(await open({})),
    second: other.open('postgres', postgres!.url, { schema, connections: 3 }),
  });

  const runs = repetitions(5, 50);
  describeTaskStore('postgresStore in two processes', inTwoProcesses, { runs });
  describePushConfigStore('postgresStore in two processes', inTwoProcesses, { runs });
  // It differs only in how it learns of changes: the checks that hear of none run in `test:long`.
  const name = 'postgresStore that polls, on one pool';
  if (repetitions(0, 1)) {
    describeTaskStore(name, polling, { runs: 30 });
    describePushConfigStore(name, polling);
  } else
    describe(name, () => {
      for (const check of taskStoreChecks.filter(({ section }) => notifying.includes(section)))
        it(`${check.section}: ${check.title}`, () => runCheck(check, polling, { runs: 3 }));
      for (const check of pushConfigChecks.filter(({ title }) => /notif|due at once/.test(title)))
        it(`${check.section}: ${check.title}`, () => runCheck(check, polling));
    });
});
