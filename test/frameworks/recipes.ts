import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { AgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { a2aFastify } from '@batonjs/server-fastify';
import { nodeHandler } from '@batonjs/server-node';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import Koa from 'koa';
import { onTestFinished } from 'vitest';
import { builtOnce } from '../support/built-once.ts';
import { path } from './echo.ts';

/** Serves an agent at `/agents/echo` as the page about frameworks shows. */
type Recipe = (server: AgentServer) => Promise<RequestListener>;

class AppModule {}

/** The recipes of `docs/serving/frameworks.md`, apart from those that have packages. */
export const recipes: readonly (readonly [name: string, recipe: Recipe])[] = [
  [
    'Koa',
    async (server) => {
      const agent = nodeHandler(server, { path });
      const app = new Koa();
      app.use((context, next) => {
        if (!/^\/agents\/echo(\/|$)/.test(context.path)) return next();
        context.respond = false;
        agent(context.req, context.res);
      });
      return app.callback();
    },
  ],
  [
    'NestJS on Express',
    async (server) => {
      const app = await NestFactory.create(AppModule, { logger: false });
      app.use(path, a2aExpress(server));
      await app.init();
      onTestFinished(() => app.close());
      return app.getHttpAdapter().getInstance();
    },
  ],
  [
    'NestJS on Fastify',
    async (server) => {
      const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), {
        logger: false,
      });
      await app.register(a2aFastify(server) as never, { prefix: path });
      await app.init();
      const fastify = app.getHttpAdapter().getInstance();
      await fastify.ready();
      onTestFinished(() => app.close());
      return fastify.routing;
    },
  ],
  [
    'SvelteKit',
    async (server) => {
      Object.assign(globalThis, { servedBySvelte: server });
      svelte ??= builtWithSvelte();
      return svelte;
    },
  ],
];

let svelte: Promise<RequestListener> | undefined;

/** The app of SvelteKit, built once for all tests of a file. */
async function builtWithSvelte(): Promise<RequestListener> {
  const here = import.meta.dirname;
  const folder = await builtOnce('svelte-app', ['test/frameworks/{svelte/**/*.*,package.json}'], (folder) => {
    cpSync(join(here, 'svelte'), folder, { recursive: true });
    symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
    const vite = join(here, 'node_modules/vite/bin/vite.js');
    return promisify(execFile)(process.execPath, [vite, 'build'], { cwd: folder });
  });
  // The server has a limit of its own, and answers in the form of the binding.
  process.env.BODY_SIZE_LIMIT = 'Infinity';
  const { handler } = await import(pathToFileURL(join(folder, 'build/handler.js')).href);
  return handler;
}
