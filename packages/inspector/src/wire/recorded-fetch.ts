import type { Call, ClientTransport, TransportRequest } from '@batonjs/bindings';
import { operationOf } from './operation-of.ts';
import { receivedHeaders, Secrets } from './secrets.ts';
import { curlOf, grpcurlOf } from './shell-line.ts';
import type { Draft, WireLog } from './wire-log.ts';

/** Is notified of the streams of one client, so that a reader sees when a connection breaks and goes on. */
export interface Tap {
  /** A stream or a poll was asked for. `after`: the event after which it goes on. */
  onRequest?(request: {
    readonly isStream: boolean;
    readonly operation: string;
    readonly after?: string | undefined;
  }): void;
  /** A stream has started. */
  onOpen?(): void;
  /** A stream is over. `why` if it broke. */
  onClose?(why?: string): void;
}

type Fetch = (request: Request) => Promise<Response>;

/** A `fetch` that writes every exchange into the log while it happens. */
export function recordedFetch(send: Fetch, log: WireLog, tap: Tap = {}): Fetch {
  return async (request) => {
    const began = performance.now();
    const { method, url } = request;
    const sent = request.body ? await request.clone().text() : undefined;
    const given = Object.fromEntries(request.headers);
    const secrets = new Secrets({ headers: given });
    const body = sent === undefined ? undefined : secrets.json(sent, sent);
    const headers = secrets.headers(given);
    const isStream = headers.accept?.includes('event-stream') ?? false;
    const about = operationOf(method, url, sent);
    const exchange = log.add({
      ...about,
      method,
      url,
      requestHeaders: headers,
      ...(body !== undefined && { requestBody: body }),
      shell: curlOf({ method, url, headers, body }),
    });
    tap.onRequest?.({ isStream, operation: about.operation, after: headers['last-event-id'] });
    const end = (why?: string) => {
      exchange.endMs = performance.now() - began;
      log.changed(exchange);
      if (isStream) tap.onClose?.(why);
    };
    try {
      const response = await send(request);
      exchange.firstMs = performance.now() - began;
      exchange.status = `${response.status} ${response.statusText}`.trim();
      exchange.isError = response.status >= 400;
      exchange.responseHeaders = receivedHeaders(response.headers);
      if (!response.body) {
        end();
        return response;
      }
      if (isStream && response.ok) tap.onOpen?.();
      const { status, statusText } = response;
      return new Response(recorded(response.body, { exchange, log, secrets, end }), {
        status,
        statusText,
        headers: response.headers,
      });
    } catch (error) {
      const why = messageOf(error);
      exchange.isError = true;
      exchange.status ??= request.signal.aborted ? 'canceled' : `no answer: ${why}`;
      end(why);
      throw error;
    }
  };
}

interface Recorded {
  readonly exchange: Draft;
  readonly log: WireLog;
  readonly secrets: Secrets;
  readonly end: (why?: string) => void;
}

/** The body, passed on as it comes. */
function recorded(
  body: ReadableStream<Uint8Array>,
  { exchange, log, secrets, end }: Recorded,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const isJson = /json/.test(exchange.responseHeaders['content-type'] ?? '');
  let text = '';
  let hasLeft = false;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        // The end of a body whose reader has left is no failure of the connection.
        if (hasLeft) return;
        if (done) {
          if (isJson) log.receive(exchange, secrets.json(text, text));
          end();
          controller.close();
          return;
        }
        // A secret can only be found in complete JSON.
        if (isJson) text += decoder.decode(value, { stream: true });
        else log.receive(exchange, decoder.decode(value, { stream: true }));
        controller.enqueue(value);
      } catch (error) {
        end(messageOf(error));
        controller.error(error);
      }
    },
    async cancel(reason) {
      hasLeft = true;
      end();
      await reader.cancel(reason);
    },
  });
}

/** Why a connection failed, in the words of the system. */
function messageOf(error: unknown): string {
  const { message, cause } = Object(error) as {
    message?: string;
    cause?: { code?: string; message?: string };
  };
  return cause?.code ?? cause?.message ?? message ?? String(error);
}

/** The gRPC binding of a client that writes every call into the log while it happens. */
export function recordedTransport(transport: ClientTransport, log: WireLog, tap: Tap = {}): ClientTransport {
  const begin = ({ operation, params }: Call, request: TransportRequest, isStream: boolean) => {
    const began = performance.now();
    const { url, headers } = request;
    const secrets = new Secrets(request);
    const requestHeaders = secrets.headers(headers);
    const requestBody = secrets.json(JSON.stringify(params));
    const method = `lf.a2a.v1.A2AService/${operation}`;
    const shell = grpcurlOf({ method, url, headers: requestHeaders, body: requestBody });
    const about = { binding: transport.name, operation, method, url };
    const exchange = log.add({ ...about, requestHeaders, requestBody, shell });
    tap.onRequest?.({ isStream, operation, after: headers['last-event-id'] });
    const end = (error?: unknown): void => {
      exchange.endMs = performance.now() - began;
      exchange.isError = error !== undefined;
      const { code, reason } = Object(error) as { code?: unknown; reason?: string };
      exchange.status = error === undefined ? 'OK' : String(reason ?? code ?? 'failed');
      log.changed(exchange);
    };
    return { began, secrets, exchange, end };
  };
  return {
    ...transport,
    async call(call, request) {
      const { secrets, exchange, end } = begin(call, request, false);
      try {
        const result = await transport.call(call, request);
        log.receive(exchange, secrets.json(JSON.stringify(result)));
        end();
        return result;
      } catch (error) {
        end(error);
        throw error;
      }
    },
    async *stream(call, request) {
      const { began, secrets, exchange, end } = begin(call, request, true);
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
        end(failure);
        tap.onClose?.(failure instanceof Error ? failure.message : undefined);
      }
    },
  };
}
