import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { type PostgresStoreOptions, postgresStore } from '../src/index.ts';
import { emptied } from './empty.ts';
import { type RemoteStores, startStoreProcess } from './remote-stores.ts';

const postgres = await postgresForTests();
afterAll(() => postgres?.stop());

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
    const store = postgresStore(pool!, { schema, ...options });
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
    second: other.open(postgres!.url, { schema, connections: 3 }),
  });

  for (const describeStore of [describeTaskStore, describePushConfigStore]) {
    describeStore('postgresStore in two processes', inTwoProcesses, { runs: repetitions(5, 50) });
    describeStore('postgresStore that polls, on one pool', polling, { runs: repetitions(3, 30) });
  }
});
