import { join } from 'node:path';
import type { ModelPrices } from '@batonjs/inspector';
import type { Logger } from '@batonjs/server';
import { StartError } from './start-error.ts';

/** Where the gallery is served and where its tasks are kept. */
export interface Settings {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The port of the first agent's gRPC; the others follow it. 0 takes free ones, undefined serves none. */
  readonly grpcPort?: number | undefined;
  /** The URL of the store that keeps the tasks, as `openStore` of `sample-store` takes it. */
  readonly store: string;
  /** What clients see instead of host and port, without trailing slash. */
  readonly publicUrl?: string;
  /** The URL of an OTLP receiver over HTTP, to which spans and metrics are sent. Undefined: none are made. */
  readonly otlpEndpoint?: string | undefined;
  /** Where the inspector shows a trace, with `{traceId}` in place of its id. */
  readonly traceUrl?: string | undefined;
  /** What the model of the assistant costs. */
  readonly modelPrices?: ModelPrices | undefined;
  /** The number of requests to agents that one address may send in a minute. */
  readonly perMinute?: number;
  /** The token of the inspector, at least 16 characters. Default: a random one. */
  readonly inspectorToken?: string | undefined;
  /** Receives what clients do not see. Default: that of the server. */
  readonly logger?: Logger | undefined;
  /** Kills this process, which its parent starts again. */
  readonly kill?: (() => void) | undefined;
}

/**
 * Reads `HOST`, `PORT`, `GRPC_PORT`, `BATON_STORE`, `BATON_DATA`, `PUBLIC_URL`, `RATE_LIMIT`,
 * `OTEL_EXPORTER_OTLP_ENDPOINT`, `TRACE_URL`, `ASSISTANT_PRICE` and `BATON_INSPECTOR_TOKEN`. Throws a `StartError` for an invalid value.
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  return {
    host: env.HOST || '127.0.0.1',
    port: readPort('PORT', env.PORT || '4000'),
    grpcPort: env.GRPC_PORT ? readPort('GRPC_PORT', env.GRPC_PORT) : undefined,
    store: env.BATON_STORE || `sqlite:${join(env.BATON_DATA || '.data', 'tasks.db')}`,
    publicUrl: env.PUBLIC_URL ? readUrl('PUBLIC_URL', env.PUBLIC_URL) : undefined,
    otlpEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT
      ? readUrl('OTEL_EXPORTER_OTLP_ENDPOINT', env.OTEL_EXPORTER_OTLP_ENDPOINT)
      : undefined,
    traceUrl: env.TRACE_URL ? readTraceUrl(env.TRACE_URL) : undefined,
    modelPrices: env.ASSISTANT_PRICE
      ? readPrice(env.ASSISTANT_PRICE, env.ASSISTANT_MODEL || (env.ASSISTANT_URL ? 'default' : 'mock'))
      : undefined,
    perMinute: env.RATE_LIMIT ? readCount(env.RATE_LIMIT) : undefined,
    inspectorToken: env.BATON_INSPECTOR_TOKEN ? readToken(env.BATON_INSPECTOR_TOKEN) : undefined,
  };
}

function readPort(name: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new StartError(`${name} must be a whole number from 0 to 65535, not "${text}".`);
}

function readPrice(text: string, model: string): ModelPrices {
  const [, currency, input, output] = /^([A-Z]{3}) (\d+(?:\.\d+)?) (\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (!currency)
    throw new StartError(
      `ASSISTANT_PRICE must be a currency and the prices of a million tokens in and out, such as "USD 0.25 2", not "${text}".`,
    );
  return { currency, models: { [model]: { input: Number(input), output: Number(output) } } };
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new StartError(`RATE_LIMIT must be a whole number of requests, not "${text}".`);
}

function readToken(text: string): string {
  if (/^[\w-]{16,200}$/.test(text)) return text;
  throw new StartError('BATON_INSPECTOR_TOKEN must have 16 to 200 letters, digits, - or _.');
}

function readTraceUrl(text: string): string {
  const url = readUrl('TRACE_URL', text);
  if (url.includes('{traceId}')) return url;
  throw new StartError(`TRACE_URL must contain {traceId}, unlike "${text}".`);
}

function readUrl(name: string, text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/(?<!\/)\/+$/, '');
  throw new StartError(`${name} must be an absolute http or https URL, not "${text}".`);
}
