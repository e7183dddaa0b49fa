import type { AgentServer } from '@batonjs/server';
import type { Worker } from '@batonjs/server/worker';
import { listenProbes } from '@batonjs/server-node';
import { metricsHandler } from '@batonjs/telemetry';

const { HOST: host, PROBES_PORT: port, METRICS_TOKEN: token = null } = process.env;

/** Milliseconds that running turns get after SIGTERM. An orchestrator has to wait longer. */
export const graceMs = Number(process.env.GRACE_MS ?? 10_000);

/** Answers probes and metrics on `PROBES_PORT`, if there is one. The returned function ends that. */
export async function answerProbes(started: AgentServer | Worker): Promise<() => Promise<void>> {
  if (!port) return async () => {};
  const metrics = metricsHandler(started, { token });
  const probes = await listenProbes(started, { ...(host && { host }), port: Number(port), metrics });
  return probes.close;
}
