import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentServer, reply } from '@batonjs/server';
import { afterAll, describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { canStartEtcd, startEtcd } from '../../../test/support/etcd.ts';
import { importedBy } from '../../../test/support/loaded-modules.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { redisForTests } from '../../../test/support/redis.ts';
import { openStore } from '../src/open-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-sample-store-'));
const [redis, postgres] = await Promise.all([redisForTests(), postgresForTests()]);
const etcd = (await canStartEtcd()) ? await startEtcd({ members: 1, inMemory: true }) : undefined;
afterAll(async () => {
  await etcd?.stop();
  rmSync(folder, { recursive: true });
});

const isLong = repetitions(0, 1) > 0;

const urls = [
  'memory:',
  `sqlite:${join(folder, 'new', 'tasks.db')}`,
  // It takes seconds to fill; that it keeps tasks is tested with the adapter of PostgreSQL.
  ...(isLong ? ['pglite:', `pglite:${join(folder, 'new', 'postgres')}`] : []),
  ...(redis ? [redis.url] : []),
  ...(etcd ? [`etcd://${etcd.urls.map((url) => new URL(url).host)}`] : []),
  ...(postgres ? [postgres.url, postgres.url.replace('postgres:', 'postgresql:')] : []),
];

describe('a store by its URL', () => {
  it.each(urls)('%s keeps the tasks of an agent', async (url) => {
    const store = await openStore(url);
    const card = { name: 'Echo', description: 'Says it again' };
    const server = createAgentServer({ name: url, card, agent: ({ text }) => reply(text), store });
    try {
      const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Ada' }] };
      const answer = await server.fetch(
        new Request('http://agent/message:send', {
          method: 'POST',
          headers: { 'a2a-version': '1.0', 'content-type': 'application/json' },
          body: JSON.stringify({ message }),
        }),
      );
      expect(await answer.json()).toMatchObject({ message: { parts: [{ text: 'Ada' }] } });
    } finally {
      await server.close();
      await store.close();
    }
  });

  it('keeps them in the folder that is named', async () => {
    const kept = ['tasks.db', ...(isLong ? ['postgres'] : [])];
    expect(readdirSync(join(folder, 'new'))).toEqual(expect.arrayContaining(kept));
  });

  it.each(['', 'tasks.db', 'mysql://root:secret@localhost/tasks', 'constructor:x', 'https://secret'])(
    'is refused where the URL names none (%j), without repeating it',
    async (url) => {
      const refusal = await openStore(url).catch(({ message }) => message);
      expect(refusal).toMatch(/^BATON_STORE names no store: it begins with memory:, sqlite:, .*or \w+:$/);
      expect(refusal).not.toContain('secret');
    },
  );

  it.each(['memory:', 'pglite:'])('is refused where several processes are to share %s', async (url) => {
    await expect(openStore(url, { shared: true })).rejects.toThrow(
      /^\w+: is of one process\. Several share sqlite:, redis:, /,
    );
  });

  it.each(['redis://127.0.0.1:1', 'postgres://127.0.0.1:1/none', 'etcd://127.0.0.1:1'])(
    'is refused where %s does not answer',
    async (url) => {
      await expect(openStore(url)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    },
  );
});

const drivers =
  /node_modules\/(pg|redis|@redis|@electric-sql|@grpc)\/|store-(memory|sqlite|redis|postgres|etcd)\//;

it('loads no adapter and no driver but those of the store that is named', async () => {
  const open = `const { openStore } = await import('./src/open-store.ts');
    await (await openStore('memory:')).close()`;
  const loaded = await importedBy(open, join(import.meta.dirname, '..'));
  const found = loaded.flatMap((url) => drivers.exec(url) ?? []).filter((name) => name?.endsWith('/'));
  expect([...new Set(found)]).toEqual(['store-memory/']);
});
