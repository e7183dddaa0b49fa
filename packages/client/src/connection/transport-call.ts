import type { Call, ClientTransport, TransportRequest } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS, A2A_VERSION } from '@batonjs/protocol/headers';
import type { CallOptions } from '../options/connect-options.ts';
import type { Settings } from '../options/settings.ts';
import type { CallSpan } from '../options/telemetry.ts';
import { credentialsFor, untrusted } from './exchange.ts';
import { tooLarge } from './response-body.ts';

/** A call with everything that it is sent with. */
export interface PreparedCall {
  readonly call: Call;
  /** As in the card. */
  readonly url: string;
  /** The same as a URL of HTTP. */
  readonly address: string;
  readonly options: CallOptions & {
    readonly lastEventId?: string | undefined;
    readonly span?: CallSpan | undefined;
  };
  readonly extensions: readonly string[];
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly onOpen?: () => void;
}

/** Makes a call on a binding that carries it itself. After UNAUTHENTICATED, repeats it once with new credentials. */
export async function callOnce(transport: ClientTransport, prepared: PreparedCall): Promise<unknown> {
  const { call } = prepared;
  try {
    return await transport.call(call, await requestOf(transport, prepared));
  } catch (error) {
    const challenge = challengeOf(error, prepared);
    try {
      return await transport.call(call, await requestOf(transport, prepared, challenge));
    } catch (second) {
      throw sizeError(second, prepared);
    }
  }
}

/** Like {@link callOnce}, for a stream. It is repeated only before its first event. */
export async function* streamCall(
  transport: ClientTransport,
  prepared: PreparedCall,
): AsyncGenerator<{ readonly id?: string | undefined; readonly event: unknown }, void, void> {
  const { call } = prepared;
  let challenge: string | undefined;
  for (let isOpen = false; ; ) {
    try {
      const request = await requestOf(transport, prepared, challenge);
      for await (const event of transport.stream(call, request)) {
        isOpen = true;
        yield event;
      }
      return;
    } catch (error) {
      if (isOpen || challenge !== undefined) throw sizeError(error, prepared);
      challenge = challengeOf(error, prepared);
    }
  }
}

async function requestOf(
  { version }: ClientTransport,
  { url, address, options, extensions, settings, signal, maxBytes, onOpen }: PreparedCall,
  challenge?: string,
): Promise<TransportRequest> {
  signal.throwIfAborted();
  const isTrusted = settings.origins.has(new URL(address).origin);
  const credentials = await credentialsFor(address, challenge, settings);
  const named: Record<string, string> = {
    ...options.span?.headers,
    ...(isTrusted && { ...settings.headers, ...options.headers }),
    ...credentials,
    [A2A_VERSION]: version,
    ...(extensions.length > 0 && { [A2A_EXTENSIONS]: extensions.join(', ') }),
    ...(options.lastEventId && { 'last-event-id': options.lastEventId }),
  };
  const headers = Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { url, headers, signal, maxBytes, ...(onOpen && { onOpen }) };
}

/** The challenge of a refusal that new credentials may change. Throws any other error. */
function challengeOf(error: unknown, prepared: PreparedCall): string {
  const { settings, options, address } = prepared;
  if (!A2AError.is(error, 'UNAUTHENTICATED')) throw sizeError(error, prepared);
  if (settings.credentials) return error.challenge ?? '';
  const hasSecrets = Object.keys({ ...settings.headers, ...options.headers }).length > 0;
  throw hasSecrets && !settings.origins.has(new URL(address).origin) ? untrusted(address) : error;
}

const sizeError = (error: unknown, { maxBytes }: PreparedCall): unknown =>
  error instanceof RangeError ? tooLarge(maxBytes) : error;
