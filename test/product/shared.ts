import type { WorkerOptions } from '@batonjs/server/worker';
import { postgresStore } from '@batonjs/store-postgres';
import { telemetry } from '@batonjs/telemetry';
import { agent } from './agent.ts';

const { DATABASE_URL = '', PUBLIC_URL = '', WEBHOOK_HOSTS = '' } = process.env;
const day = 24 * 3_600_000;

/** What servers and workers share, written once. */
export const shared = {
  name: 'invoices',
  agent,
  store: postgresStore(DATABASE_URL),
  // A turn whose process died is run again, and a step that throws is tried again.
  restart: 'rerun',
  retry: { retries: 2, steps: { retries: 5, backoff: { initialMs: 500 } } },
  timeouts: { interruptedMs: 7 * day },
  retention: { closedAfterMs: 90 * day },
  callbacks: { url: `${PUBLIC_URL}/agent` },
  push: { allow: WEBHOOK_HOSTS.split(',').filter(Boolean) },
  telemetry: telemetry({ expose: true }),
} satisfies WorkerOptions;
