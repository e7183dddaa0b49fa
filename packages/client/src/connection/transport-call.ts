import type { Call, ClientTransport, TransportRequest } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { CallOptions, CredentialsRequest, Settings } from '../options/connect-options.ts';
import { ofNetwork, tooLarge } from './call-deadline.ts';
import { credentialsFor, hasHeaders, headersOf, isRefusal, type Retried, untrusted } from './exchange.ts';

/** A call with everything that it is sent with. */
export interface PreparedCall {
  readonly call: Call;
  /** As in the card. */
  readonly url: string;
  /** The same as a URL of HTTP. */
  readonly address: string;
  readonly options: CallOptions & {
    readonly lastEventId?: string | undefined;
    readonly span?: Retried | undefined;
  };
  readonly extensions: readonly string[];
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly onOpen?: () => void;
}

/** The headers of the `credentials` hook. */
type Headers = CredentialsRequest['refused'];

/** Makes a call on a binding that carries it itself. Repeats it once if better credentials may be accepted. */
export async function callOnce(transport: ClientTransport, prepared: PreparedCall): Promise<unknown> {
  const { value } = await attempts(transport, prepared, async function* (request) {
    yield await transport.call(prepared.call, request);
  }).next();
  return value;
}

/** Like {@link callOnce}, for a stream. It is repeated only before its first event. */
export const streamCall = (transport: ClientTransport, prepared: PreparedCall) =>
  attempts(transport, prepared, (request) => transport.stream(prepared.call, request));

async function* attempts<Value>(
  transport: ClientTransport,
  prepared: PreparedCall,
  attempt: (request: TransportRequest) => AsyncIterable<Value>,
): AsyncGenerator<Value, void, void> {
  let credentials = await credentialsFor(prepared.address, prepared);
  for (let isFinal = false; ; ) {
    const request = requestOf(transport, prepared, credentials);
    try {
      for await (const value of attempt(request)) {
        isFinal = true;
        yield value;
      }
      return;
    } catch (error) {
      if (isFinal) throw failureOf(error, prepared);
      isFinal = true;
      credentials = await betterThan(credentials, error, prepared);
    }
  }
}

function requestOf(
  { version }: ClientTransport,
  { url, address, options, extensions, settings, signal, maxBytes, onOpen }: PreparedCall,
  credentials: Headers,
): TransportRequest {
  signal.throwIfAborted();
  const isTrusted = settings.origins.has(new URL(address).origin);
  const named = { ...headersOf({ ...options, settings, version, extensions }, isTrusted), ...credentials };
  const headers = Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { url, headers, signal, maxBytes, ...(onOpen && { onOpen }) };
}

/** The credentials to try after a refusal that they may change. Rejects with any other error. */
async function betterThan(refused: Headers, error: unknown, prepared: PreparedCall): Promise<Headers> {
  const { settings, options, address } = prepared;
  const isUnauthenticated = A2AError.is(error, 'UNAUTHENTICATED');
  const { challenge = '' } = error as { challenge?: string };
  const better =
    isRefusal(isUnauthenticated, challenge) &&
    (await credentialsFor(address, prepared, { challenge, refused }));
  if (better) return better;
  const hasSecrets = hasHeaders({ ...options, settings });
  throw isUnauthenticated && hasSecrets && !settings.origins.has(new URL(address).origin)
    ? untrusted(address)
    : failureOf(error, prepared);
}

const failureOf = (error: unknown, { maxBytes }: PreparedCall): unknown =>
  error instanceof RangeError ? tooLarge(maxBytes) : ofNetwork(error);
