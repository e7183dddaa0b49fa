import { serveChat } from '@batonjs/chat';
import type { Inspector } from '@batonjs/inspector';
import { catalogOf } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import type { TaskGateway } from '@batonjs/task-gateway';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import { curlLine } from './curl-line.ts';
import type { Exhibit } from './exhibit.ts';
import { indexPage } from './index-page.ts';
import { limitRate } from './limit-rate.ts';

/**
 * Serves the agents, the default agent's card, the task service of `tasks`, the inspector, the chat with its agent, an
 * index, and liveness and readiness checks. `kill` is for the red button of the chat. One address may send `perMinute` requests to agents in a minute.
 */
export function createApp(
  exhibits: readonly [Exhibit, ...Exhibit[]],
  perMinute = 6_000,
  tasks?: Pick<TaskGateway, 'handle'>,
  inspector?: Inspector,
  kill?: () => void,
): Express {
  const app = express();
  app.disable('x-powered-by').enable('case sensitive routing').set('json spaces', 2);
  app.use(['/agents', '/task'], limitRate(perMinute));
  for (const { name, server } of exhibits) app.use(`/agents/${name}`, a2aExpress(server));
  app.all('/.well-known/agent-card.json', a2aExpress(exhibits[0].server));
  const listed = exhibits.map(({ name, url }) => ({ name, url }));
  app.all(/^\/\.well-known\/(ai-catalog\.json|api-catalog)$/, a2aExpress(catalogOf(listed)));
  if (tasks) app.all(/^\/task(\/|$)/, a2aExpress(tasks));
  if (inspector) app.use('/inspector', inspector);
  const hasChat = exhibits.some(({ name }) => name === 'chat');
  if (hasChat) {
    // The page names its files relative to itself.
    app.get(/^\/chat$/, (_request, response) => response.redirect(308, '/chat/'));
    app.use('/chat/', serveChat({ agent: '../agents/chat', kill }));
  }
  const pages = { ...(inspector && { '/inspector': 'Inspector' }), ...(hasChat && { '/chat': 'Chat' }) };
  app.get('/', (request, response) => {
    // Programs that take anything get JSON.
    if (request.accepts(['json', 'html']) === 'html') response.send(indexPage(exhibits, pages));
    else response.json(indexOf(exhibits));
  });
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', readiness(exhibits));
  app.use((request, response) => refuse(response, 404, `There is nothing at ${request.path}`));
  app.use(failed);
  return app;
}

const indexOf = (exhibits: readonly Exhibit[]) => ({
  name: 'Baton gallery',
  agents: exhibits.map((exhibit) => ({
    name: exhibit.name,
    description: exhibit.server.card.description,
    url: exhibit.url,
    card: `${exhibit.url}/.well-known/agent-card.json`,
    try: curlLine(exhibit),
  })),
});

/** Ready while every agent accepts requests and its store answers. */
const readiness =
  (exhibits: readonly Exhibit[]): RequestHandler =>
  async (_request, response) => {
    const ready = await Promise.all(exhibits.map(({ server }) => server.ready()));
    if (ready.every(Boolean)) response.json({ status: 'ready' });
    else response.status(503).set('retry-after', '1').json({ status: 'not ready' });
  };

/** Answers requests that Express refuses, such as a path that is no URL, and errors of the app. */
const failed: ErrorRequestHandler = (error, _request, response, _next) => {
  const status = Number(error?.status);
  if (status >= 400 && status < 500) refuse(response, status, 'The request makes no sense');
  else refuse(response, 500, 'The server failed');
};

const refuse = (response: Response, code: number, message: string): void =>
  void response.status(code).json({ error: { code, status: statuses[code] ?? 'INVALID_ARGUMENT', message } });

const statuses: Readonly<Record<number, string>> = { 404: 'NOT_FOUND', 500: 'INTERNAL' };
