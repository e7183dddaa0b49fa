/**
 * `pnpm docs:build` writes the site to `docs/.vitepress/dist`, and fails at a link that leads nowhere; `DOCS_BASE=/baton/`
 * says where it will be served. `pnpm docs:dev` serves it and shows changes at once; `pnpm docs:preview` serves the built
 * one.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, createServer, serve } from 'vitepress';
import { docs } from './pages.ts';
import { writeReference } from './reference.ts';

const [task = 'build'] = process.argv.slice(2);
if (task === 'build' || !existsSync(join(docs, 'reference'))) await writeReference();
if (task === 'build') await build(docs);
else if (task === 'preview') await serve({ root: docs, port: portOr(4173) });
else {
  const server = await createServer(docs, { port: portOr(5173), host: '127.0.0.1' });
  await server.listen();
  server.printUrls();
}

function portOr(otherwise: number): number {
  return Number(process.env.PORT ?? otherwise);
}
