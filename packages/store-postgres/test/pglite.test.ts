import { readFileSync } from 'node:fs';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { runCheck, taskStoreChecks } from '@batonjs/store-conformance/checks';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { postgresStore } from '../src/index.ts';
import { emptied } from './empty.ts';

let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
  const store = postgresStore(database, { textSearch: true });
  await store.identity();
  await store.close();
});
afterAll(() => database.close());

async function twice() {
  await database.exec(emptied('baton').join(';'));
  const store = postgresStore(database, { textSearch: true });
  const reopen = async () => {
    await store.close();
    return postgresStore(database);
  };
  return { store, second: postgresStore(database), reopen };
}

const name = 'postgresStore, twice on one PGlite';
// PGlite is PostgreSQL, at several times the price: the other checks run in `test:long`.
if (repetitions(0, 1)) {
  describeTaskStore(name, twice, { runs: 30 });
  describePushConfigStore(name, twice);
} else {
  describe(name, () => {
    for (const check of taskStoreChecks.filter(({ section }) => section === 'commit'))
      it(`${check.section}: ${check.title}`, () => runCheck(check, twice, { runs: 3 }));
  });
}

it('The tables are those that the README describes', async () => {
  const { rows } = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'baton'`,
  );
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const described = Array.from(
    readme.matchAll(/^\| ((`\w+`,? )+) *\|/gm),
    ([, names = '']) => names.match(/\w+/g) ?? [],
  ).flat();
  expect(described.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});
