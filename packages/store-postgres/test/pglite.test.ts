import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { postgresStore } from '../src/index.ts';
import { emptied } from './empty.ts';

let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
  const store = postgresStore(database);
  await store.identity();
  await store.close();
});
afterAll(() => database.close());

async function twice() {
  await database.exec(emptied('baton').join(';'));
  const store = postgresStore(database);
  const reopen = async () => {
    await store.close();
    return postgresStore(database);
  };
  return { store, second: postgresStore(database), reopen };
}

for (const describeStore of [describeTaskStore, describePushConfigStore])
  describeStore('postgresStore, twice on one PGlite', twice, { runs: repetitions(3, 30) });
