import type { Call, ClientTransport, TransportRequest } from '@batonjs/bindings';
import type { Tap } from './recorded-fetch.ts';
import { Secrets } from './secrets.ts';
import { grpcurlOf } from './shell-line.ts';
import type { Draft, WireLog } from './wire-log.ts';

/** The gRPC binding of a client that writes every call into the log while it happens. */
export function recordedTransport(transport: ClientTransport, log: WireLog, tap: Tap = {}): ClientTransport {
  const begin = (
    { operation, params }: Call,
    { url, headers }: TransportRequest,
    secrets: Secrets,
  ): Draft => {
    const requestHeaders = secrets.headers(headers);
    const requestBody = secrets.json(JSON.stringify(params));
    const method = `lf.a2a.v1.A2AService/${operation}`;
    const shell = grpcurlOf({ method, url, headers: requestHeaders, body: requestBody });
    return log.add({ binding: transport.name, operation, method, url, requestHeaders, requestBody, shell });
  };
  const end = (exchange: Draft, began: number, error?: unknown): void => {
    exchange.endMs = performance.now() - began;
    exchange.isError = error !== undefined;
    const { code, reason } = Object(error) as { code?: unknown; reason?: string };
    exchange.status = error === undefined ? 'OK' : String(reason ?? code ?? 'failed');
    log.changed(exchange);
  };
  return {
    ...transport,
    async call(call, request) {
      const began = performance.now();
      const secrets = new Secrets(request);
      const exchange = begin(call, request, secrets);
      tap.onRequest?.({ isStream: false, operation: call.operation });
      try {
        const result = await transport.call(call, request);
        log.receive(exchange, secrets.json(JSON.stringify(result)));
        end(exchange, began);
        return result;
      } catch (error) {
        end(exchange, began, error);
        throw error;
      }
    },
    async *stream(call, request) {
      const began = performance.now();
      const secrets = new Secrets(request);
      const exchange = begin(call, request, secrets);
      tap.onRequest?.({ isStream: true, operation: call.operation, after: request.headers['last-event-id'] });
      let failure: unknown;
      try {
        for await (const event of transport.stream(call, request)) {
          if (exchange.firstMs === undefined) {
            exchange.firstMs = performance.now() - began;
            tap.onOpen?.();
          }
          log.receive(exchange, `${secrets.json(JSON.stringify(event.event))}\n`);
          yield event;
        }
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        end(exchange, began, failure);
        tap.onClose?.(failure instanceof Error ? failure.message : undefined);
      }
    },
  };
}
