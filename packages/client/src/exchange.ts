import type { OutgoingRequest } from '@batonjs/bindings';
import { A2A_EXTENSIONS, A2A_VERSION } from '@batonjs/protocol/headers';
import { sendHttp } from '#http';
import { ClientError } from './client-error.ts';
import type { CallOptions, Settings } from './settings.ts';

/** What goes along with a request besides its content. */
interface Context extends CallOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly extensionsHeader?: string | undefined;
  readonly extensions: readonly string[];
  readonly signal: AbortSignal;
}

/** Sends a request and resolves to whatever was answered. Rejects when there was no answer. */
export async function exchange(request: OutgoingRequest, context: Context): Promise<Response> {
  const { settings, version, extensionsHeader = A2A_EXTENSIONS, extensions, headers, signal } = context;
  signal.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  aborted.catch(() => {});
  const send = async ({ url, method, body, headers: own }: OutgoingRequest, challenge?: string) => {
    const credentials = await credentialsFor(url, challenge, settings);
    const init: RequestInit = {
      method,
      body,
      signal,
      headers: {
        ...own,
        [A2A_VERSION]: version,
        ...(extensions.length > 0 && { [extensionsHeader]: extensions.join(', ') }),
        ...settings.headers,
        ...headers,
        ...credentials,
      },
      // Whoever the agent points to must not be given the credentials.
      redirect: settings.credentials ? 'error' : 'follow',
    };
    const response = settings.fetch ? settings.fetch(new Request(url, init)) : sendHttp(url, init);
    // A fetch that is passed in may not care for the signal.
    return Promise.race([response, aborted]);
  };
  const response = await send(request);
  const challenge = response.headers.get('www-authenticate') ?? '';
  const next =
    response.status === 401 && settings.credentials
      ? () => send(request, challenge)
      : request.alternative && (response.status === 404 || response.status === 405)
        ? () => send(request.alternative!)
        : undefined;
  if (!next) return response;
  response.body?.cancel().catch(() => {});
  return next();
}

async function credentialsFor(url: string, challenge: string | undefined, settings: Settings) {
  try {
    return await settings.credentials?.({ url, ...(challenge !== undefined && { challenge }) });
  } catch (error) {
    throw new ClientError('CREDENTIALS', 'There are no credentials for this agent', error);
  }
}

/** Reads a whole body as text. Rejects with `RESPONSE_TOO_LARGE` as soon as it has more than so many bytes. */
export async function readText({ body, headers }: Response, maxBytes: number): Promise<string> {
  if (!body) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  let size = 0;
  try {
    if (Number(headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Passes on the bytes of a stream of events and tells of each piece. Fails with `RESPONSE_TOO_LARGE` when an event grows
 * beyond so many bytes; `seen` is called whenever an event is complete.
 */
export function watchBody(body: ReadableStream<Uint8Array>, maxBytes: number, onPiece: () => void) {
  const reader = body.getReader();
  let pending = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending > maxBytes) throw tooLarge(maxBytes);
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onPiece();
        pending += value.length;
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead, so that all that is pending belongs to one event.
    { highWaterMark: 0 },
  );
  return {
    stream,
    seen(data: string) {
      if (data.length > maxBytes) throw tooLarge(maxBytes);
      pending = 0;
    },
  };
}

const tooLarge = (maxBytes: number) =>
  new ClientError('RESPONSE_TOO_LARGE', `The answer has more than ${maxBytes} bytes`);
