import type { RequestListener } from 'node:http';
import type { AgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { a2aFastify } from '@batonjs/server-fastify';
import { a2aHono } from '@batonjs/server-hono';
import { nodeHandler } from '@batonjs/server-node';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { createFetch } from '../../../packages/server/src/front/http/fetch.ts';

type Served = Pick<AgentServer, 'handle'>;

/** Where an agent is mounted, and whether the owner trusts the proxy in front of it. */
export interface Place {
  /** `/agent` by default. */
  readonly path?: string;
  readonly trusted?: boolean;
}

/** Serves an agent as one framework does. */
export type Mount = (server: Served, place?: Place) => RequestListener | Promise<RequestListener>;

const place = '/agent';

/** Every way to serve an agent over HTTP. */
export const mounts = [
  [
    'node:http',
    (server, { path = place, trusted = false } = {}) => nodeHandler(server, { path, trustHost: trusted }),
  ],
  [
    'Express',
    (server, { path = place, trusted = false } = {}) =>
      express().set('trust proxy', trusted).use(path, a2aExpress(server)),
  ],
  [
    'Fastify',
    async (server, { path = place, trusted = false } = {}) => {
      const app = fastify({ trustProxy: trusted });
      app.register(a2aFastify(server), { prefix: path });
      await app.ready();
      return app.routing;
    },
  ],
  [
    'Hono',
    (server, { path = place, trusted: trustHost = false } = {}) =>
      listenerOf(new Hono().route(path, a2aHono(server, { trustHost }))),
  ],
] as const satisfies readonly (readonly [name: string, mount: Mount])[];

/** Every way to serve an agent to web-standard requests, which do not know their connection. */
const webMounts = [
  ['`server.fetch`', ({ handle }, { path = place } = {}) => listenerOf({ fetch: createFetch(handle, path) })],
  [
    'Hono on web standards',
    (server, { path = place, trusted: trustHost = false } = {}) => {
      const app = new Hono().route(path, a2aHono(server, { trustHost }));
      return listenerOf({ fetch: (request) => app.fetch(request) });
    },
  ],
] as const satisfies readonly (readonly [name: string, mount: Mount])[];

/** All of them. */
export const roads = [...mounts, ...webMounts] as const;

/** The name of a mount. */
export type MountName = (typeof roads)[number][0];

/** An app of Hono, or any other web-standard `fetch`, on `node:http`. */
export const listenerOf = ({ fetch }: Pick<Hono, 'fetch'>): RequestListener =>
  getRequestListener(fetch, { overrideGlobalObjects: false });
