import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { dueHandlers } from '../../../bench/counters/budgets.ts';
import { root } from '../../repository/source-files.ts';

/** What a cold start loads. How long that takes is on the page, and no test's business. */

const opened = {
  postgres: `postgresStore(process.env.DATABASE_URL, { notify: false, connections: 1 })`,
  redis: `redisStore({ url: process.env.REDIS_URL })`,
};

it.each(['postgres', 'redis'] as const)('a function with %s stays below its size', async (kind) => {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `
        import { createAgentServer, reply } from '@batonjs/server';
        import { tick, withWaitUntil } from '@batonjs/server/due';
        import { ${kind}Store } from '@batonjs/store-${kind}';
        const card = { name: 'Cold', description: 'Starts' };
        const store = ${opened[kind]};
        const server = createAgentServer({ card, store, agent: () => reply(''), run: 'due', restart: 'rerun' });
        export const answer = withWaitUntil(server, { waitUntil() {}, maxMs: 50_000 });
        export const cron = tick(server, { secret: process.env.CRON_SECRET, bearer: true, forMs: 50_000 });`,
      resolveDir: root,
      loader: 'ts',
    },
    ...{ bundle: true, minify: true, metafile: true, write: false, logLevel: 'silent' },
    ...{ platform: 'node', format: 'esm', target: 'node24' },
    conditions: ['@batonjs/source'],
    external: ['pg-native'],
  });
  const { inputs } = Object.values(metafile.outputs)[0]!;
  const modules = Object.values(inputs).filter(({ bytesInOutput }) => bytesInOutput > 0).length;
  const kilobytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1_000;
  const budget = dueHandlers[kind];
  expect(kilobytes).toBeLessThan(budget['compressed KB']);
  expect(modules).toBeLessThan(budget.modules);
  // Far below it, the budget is to be lowered.
  expect(kilobytes).toBeGreaterThan(budget['compressed KB'] * 0.8);
});
