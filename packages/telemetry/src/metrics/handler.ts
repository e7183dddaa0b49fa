import { isSameText } from '@batonjs/protocol/security';
import type { AgentServer } from '@batonjs/server';
import { telemetryOf } from '@batonjs/server/internals';
import type { Worker } from '@batonjs/server/worker';
import { formatFor, mediaTypes, writeMetrics } from './exposition.ts';
import type { Registry } from './registry.ts';

/** Options of `metricsHandler`. */
export interface MetricsHandlerOptions {
  /**
   * What readers send as `Authorization: Bearer …`: 16 characters or more. `null`: everyone may read who reaches the
   * handler; for a port that only the monitoring reaches.
   */
  readonly token: string | null;
}

/** A request of `node:http`, as far as it is read. */
interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: { readonly authorization?: string | undefined; readonly accept?: string | undefined };
}

/** An answer of `node:http`. */
interface NodeResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(text?: string): unknown;
}

/** Serves the metrics of this process, in the text format of Prometheus or as OpenMetrics. */
export interface MetricsHandler {
  /** The web-standard handler. Whatever the path is: mount it where you want it. */
  fetch(request: Request): Promise<Response>;
  /** The handler for `node:http`, and for frameworks on it. */
  node(request: NodeRequest, response: NodeResponse): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The registry of each `telemetry()` that exposes one. */
const registries = new WeakMap<object, Registry>();

export const keepRegistry = (telemetry: object, registry: Registry): void =>
  void registries.set(telemetry, registry);

/**
 * Serves the metrics of a server or worker that was made with `telemetry: telemetry({ expose: true })`, and of all others that
 * were given the same. Needs no SDK of OpenTelemetry. Throws `TypeError` for one without, and for a `token` that is too short.
 */
export function metricsHandler(
  process: AgentServer | Worker,
  { token }: MetricsHandlerOptions,
): MetricsHandler {
  const telemetry = telemetryOf(process);
  const registry = telemetry && registries.get(telemetry);
  if (!registry)
    throw new TypeError(
      '`metricsHandler` needs a server or worker with `telemetry: telemetry({ expose: true })`',
    );
  if (token !== null && (typeof token !== 'string' || token.length < 16))
    throw new TypeError('`token` must be a text of 16 characters or more, or null for no authentication');
  const expected = token === null ? undefined : `Bearer ${token}`;

  async function answer(
    method: string | undefined,
    authorization: string | undefined,
    accept: string | undefined,
  ): Promise<Answer> {
    if (expected && !isSameText(expected, authorization ?? ''))
      return refused(401, { 'www-authenticate': 'Bearer' }, 'The token is missing or wrong');
    if (method !== 'GET' && method !== 'HEAD') return refused(405, { allow: 'GET, HEAD' }, 'Use GET');
    const format = formatFor(accept);
    const text = writeMetrics((await registry?.collect()) ?? [], format);
    const headers = { 'content-type': mediaTypes[format], 'cache-control': 'no-store' };
    return { status: 200, headers, text: method === 'HEAD' ? '' : text };
  }

  return {
    async fetch({ method, headers }) {
      const given = [headers.get('authorization') ?? undefined, headers.get('accept') ?? undefined] as const;
      const { status, text, headers: of } = await answer(method, ...given);
      return new Response(text, { status, headers: of });
    },
    async node({ method, headers }, response) {
      const { status, text, headers: of } = await answer(method, headers.authorization, headers.accept);
      response.writeHead(status, of);
      response.end(text);
    },
  };
}

const refused = (status: number, headers: Readonly<Record<string, string>>, text: string): Answer => ({
  status,
  headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
  text: `${text}\n`,
});
