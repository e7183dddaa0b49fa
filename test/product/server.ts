import { anyOf, apiKey, bearerJwt } from '@batonjs/auth';
import { extend, taskLabels } from '@batonjs/extensions';
import { createAgentServer } from '@batonjs/server';
import { recurring } from '@batonjs/server/schedules';
import { a2aExpress } from '@batonjs/server-express';
import { metricsHandler } from '@batonjs/telemetry';
import express from 'express';
import { agent } from './agent.ts';
import { invoice } from './books.ts';
import { shared } from './shared.ts';

const { PORT = '4000', PUBLIC_URL = '', SHOP_KEY = '', REPORT_KEY = '' } = process.env;
const { ISSUER = '', JWKS_URL = '', METRICS_TOKEN = '', REPORT_CRON = '0 2 * * *' } = process.env;

const server = createAgentServer({
  ...shared,
  run: 'workers',
  ...extend({ agent, card: { name: 'Invoices', description: 'Finds and pays invoices' } }, taskLabels),
  publicUrl: `${PUBLIC_URL}/agent`,
  // Programs have keys, people the token of their login.
  authenticate: anyOf(
    apiKey({
      header: 'X-API-Key',
      keys: new Map([
        [SHOP_KEY, { scope: 'shop' }],
        [REPORT_KEY, { scope: 'reports' }],
      ]),
    }),
    bearerJwt({ issuer: ISSUER, audience: PUBLIC_URL, jwks: new URL(JWKS_URL) }),
  ),
  // Each task can be found by who asked for it.
  messages: { idempotency: true, labelsOf: (_, caller) => [`from:${caller?.claims?.sub ?? caller?.scope}`] },
  // Every server has the schedule, and each time starts one task.
  schedules: recurring([
    {
      name: 'nightly-report',
      cron: REPORT_CRON,
      timezone: 'Europe/Berlin',
      message: 'Report',
      caller: { scope: 'reports' },
    },
  ]),
});

const app = express();
app.get('/invoices/:number', async ({ params }, response) => void response.json(await invoice(params)));
app.get('/readyz', async (_, response) => void response.sendStatus((await server.ready()) ? 200 : 503));
app.get('/metrics', metricsHandler(server, { token: METRICS_TOKEN }).node);
app.use('/agent', a2aExpress(server));
const http = app.listen(Number(PORT), () => console.log(`The server listens on ${PORT}`));

process.once('SIGTERM', async () => {
  await server.close({ graceMs: 20_000 });
  http.close(() => process.exit());
});
