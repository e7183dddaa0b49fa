import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiKey } from '@batonjs/auth';
import {
  type AgentServerOptions,
  append,
  artifact,
  completed,
  createAgentServer,
  inputRequired,
  type Turn,
  working,
} from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import express, { type RequestHandler } from 'express';
import { untilAborted } from '../kit/until-aborted.ts';

/** `count <n>` counts, `hold` waits; asks otherwise. */
async function* count({ text, signal }: Turn) {
  if (text === 'hold') {
    yield working('Holding');
    await untilAborted(signal);
    return;
  }
  const last = Number.parseInt(text, 10);
  if (Number.isNaN(last)) {
    yield inputRequired('How far?');
    return;
  }
  yield working('Counting');
  yield artifact('numbers', '0');
  for (let number = 1; number <= last; number++) yield append('numbers', ` ${number}`);
  yield completed('Counted');
}

export const key = 'key-of-the-page';

/** An agent of another origin than the page: open at `/open`, for who has a key at `/closed`. */
export interface BrowserAgent {
  readonly origin: string;
  /** How many streams were broken so far. */
  readonly cuts: number;
  close(): Promise<void>;
}

export async function serveAgent(): Promise<BrowserAgent> {
  const cuts = { rpc: 0, http: 0 };
  const seen = { rpc: Promise.withResolvers<void>(), http: Promise.withResolvers<void>() };
  /**
   * Every stream breaks off in the middle of its third event, four times on each binding, and not before the page has read an
   * event: who has read none does not know which task to follow.
   */
  const breakStreams: RequestHandler = (request, response, next) => {
    const isSeen = /^\/seen\/(rpc|http)$/.exec(request.path)?.[1] as keyof typeof seen | undefined;
    if (isSeen) {
      seen[isSeen].resolve();
      return void response.end();
    }
    if (!request.headers.accept?.includes('text/event-stream')) return next();
    const binding = request.path === '/' ? 'rpc' : 'http';
    const { write } = response;
    let events = 0;
    let isBroken = false;
    response.write = (chunk: string) => {
      if (isBroken) return true;
      const texts = chunk.split(/(?<=\n\n)/);
      const before = 2 - events;
      const third = texts[before];
      events += texts.length;
      if (third === undefined || cuts[binding] >= 4) return write.call(response, chunk, 'utf8');
      isBroken = true;
      cuts[binding]++;
      const whole = texts.slice(0, before).join('');
      write.call(response, whole + third.slice(0, third.length / 2), 'utf8');
      void seen[binding].promise.then(() => setImmediate(() => response.socket?.destroy()));
      return true;
    };
    next();
  };
  const app = express();
  const servers = ['/open', '/broken', '/closed'].map((place) => {
    const card = { name: 'Counter', description: 'Counts' };
    const options: AgentServerOptions = {
      card,
      agent: count,
      store: memoryStore(),
      cors: true,
      push: { allow: ['127.0.0.1:*'] },
      logger: () => {},
      ...(place === '/closed' && {
        authenticate: apiKey({ header: 'X-API-Key', keys: new Map([[key, { scope: 'page' }]]) }),
        card: { ...card, extended: { description: 'Counts for those it knows' } },
      }),
    };
    const server = createAgentServer(options);
    app.use(place, ...(place === '/broken' ? [breakStreams] : []), a2aExpress(server));
    return server;
  });
  const http = await listen(app);
  return {
    origin: originOf(http),
    get cuts() {
      return cuts.rpc + cuts.http;
    },
    async close() {
      await Promise.all(servers.map((server) => server.close({ graceMs: 0 })));
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Serves a page that loads one script, on an origin of its own. */
export async function servePage(script: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const app = express();
  app.get('/', (_request, response) => {
    response.send(
      '<!doctype html><title>Page</title><link rel="icon" href="data:,"><script type="module" src="/client.js"></script>',
    );
  });
  app.get('/client.js', (_request, response) => {
    response.type('text/javascript').send(script);
  });
  const http = await listen(app);
  return {
    url: originOf(http),
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

const listen = (app: express.Express) =>
  new Promise<Server>((resolve) => {
    const http = createServer(app).listen(0, '127.0.0.1', () => resolve(http));
  });
const originOf = (http: Server) => `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
