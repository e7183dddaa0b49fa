import { StoreError } from '@batonjs/store';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { chunk, chunkAfter } from '../../../test/kit/task-logs.ts';
import { canHaveDisk, canStartPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { postgresStore } from '../src/index.ts';

const isPossible = (await canStartPostgres()) && (await canHaveDisk());
const server = isPossible ? await startPostgres(['-c', 'fsync=off'], { diskSize: '6m' }) : undefined;
afterAll(() => server?.stop());

describe.skipIf(!server)('A PostgreSQL whose disk is full', () => {
  it('refuses commits and says why, keeps what it acknowledged, and takes more once there is room', async () => {
    const admin = new pg.Pool({ connectionString: server!.url, max: 1 });
    await admin.query(`CREATE TABLESPACE small LOCATION '${server!.disk}'`);
    const store = postgresStore(`${server!.url}?options=-c%20default_tablespace%3Dsmall`);
    try {
      // A text that the database cannot compress.
      const text = () => Array.from({ length: 4_000 }, () => Math.random().toString(36)).join('');
      const large = () => ({ ...chunk(1), artifact: { artifactId: 'a', parts: [{ text: text() }] } });
      const refusal = { code: 'UNAVAILABLE', trouble: 'disk-full' };
      let version = 0;
      const fill = async () => {
        for (; version < 1_000; version++) await store.commit(chunkAfter(version, { facts: [large()] }));
      };
      await expect(fill()).rejects.toMatchObject(refusal);
      expect(version).toBeGreaterThan(0);
      await expect(store.probe!()).rejects.toMatchObject(refusal);
      await store.ping();
      expect((await store.readFacts('s', 't', 0, 1_000)).length).toBe(version);
      expect(StoreError.is(await fill().catch((error: unknown) => error), 'UNAVAILABLE')).toBe(true);

      await server!.growDisk('64m');
      await store.probe!();
      expect(await store.commit(chunkAfter(version))).toMatchObject({ version: version + 1 });
      expect((await store.readFacts('s', 't', 0, 1_000)).length).toBe(version + 1);
    } finally {
      await store.close();
      await admin.end();
    }
  });
});
