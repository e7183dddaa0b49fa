/** A worker of the scaling simulation, in a process of its own. */
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { completed, text, working } from '@batonjs/server';
import { createWorker } from '@batonjs/server/worker';
import { listenProbes } from '@batonjs/server-node';
import { metricsHandler, telemetry } from '@batonjs/telemetry';
import { openStore } from '../../apps/sample-store/src/open-store.ts';

const { BATON_STORE = '', QUEUE = '', TURNS = '', TURN_MS = '', EFFECTS = '', RELEASED = '' } = process.env;

const store = await openStore(BATON_STORE, { shared: true });
const worker = createWorker({
  name: QUEUE,
  store,
  restart: 'rerun',
  limits: { turns: Number(TURNS) },
  telemetry: telemetry({ expose: true }),
  logger: (level, message) => {
    if (level !== 'info') process.stderr.write(`${level}: ${message}\n`);
  },
  async *agent({ task, text: said, signal, step }) {
    yield working();
    do await sleep(Number(TURN_MS), undefined, { signal });
    while (said === 'hold' && !existsSync(RELEASED));
    // The effect outside: done twice, it stands there twice.
    await step('effect', () => appendFileSync(EFFECTS, `${task?.id}\n`));
    yield completed(text('done'));
  },
});
const probes = await listenProbes(worker, { metrics: metricsHandler(worker, { token: null }) });
process.send?.({ url: probes.url });

process.once('SIGTERM', async () => {
  await worker.close({ graceMs: 30_000 });
  await store.close();
  await probes.close();
  if (process.connected) process.disconnect();
});
process.on('disconnect', () => process.exit());
