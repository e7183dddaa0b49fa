import { once } from 'node:events';
import type { DeviceCode, OAuthError, StoredToken } from '@batonjs/oauth';
import { CliError, type CliErrorCode, usage } from '../errors/cli-error.ts';
import type { ConfirmedServer, LoginFlow } from './authorization-server.ts';

/** Who asks for a token, of whom, and for which agent. */
export interface LoginRequest extends ConfirmedServer {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** An address of the agent, to whose origin the token will be sent. */
  readonly agent: string;
  readonly wanted: LoginFlow | undefined;
  readonly send: (request: Request) => Promise<Response>;
  readonly showDeviceCode: (code: DeviceCode) => void;
}

/** Gets a token of the confirmed server alone. Rejects with a `CliError`, or with the reason of the signal. */
export async function requestToken(request: LoginRequest, signal: AbortSignal): Promise<StoredToken> {
  const { clientId, clientSecret, server, card, agent, flow = request.wanted, send } = request;
  const { oauth, OAuthError } = await import('@batonjs/oauth');
  let token: StoredToken | undefined;
  const isByDevice = flow === 'device' || (flow === undefined && clientSecret === undefined);
  const credentials = attempt(server, () =>
    oauth({
      clients: { [server]: { clientId, ...(clientSecret !== undefined && { clientSecret }) } },
      ...(isByDevice && { showDeviceCode: request.showDeviceCode }),
      fetch: (each) => send(new Request(each, { signal: AbortSignal.any([each.signal, signal]) })),
      store: {
        get: () => undefined,
        set: (_, kept) => {
          token = kept;
        },
        delete: () => {},
      },
    }),
  );
  const left = new AbortController();
  try {
    const asked = credentials({ url: agent, isTrusted: true, card });
    await Promise.race([asked, once(signal, 'abort', { signal: left.signal })]);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OAuthError) throw toCliError(error);
    throw error;
  } finally {
    left.abort();
  }
  signal.throwIfAborted();
  if (!token) throw new CliError('A2ACLI_ERR_AUTH_FAILED', `${server} gives no token`);
  return token;
}

/** Makes the credentials, which refuse a server to which no secret may travel. */
function attempt<T>(server: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new CliError(
      'A2ACLI_ERR_CARD_INVALID',
      `The authorization server ${server} is neither https nor on this machine`,
      undefined,
      cause,
    );
  }
}

const codes: Readonly<Record<OAuthError['code'], CliErrorCode>> = {
  NO_CLIENT: 'A2ACLI_ERR_USAGE',
  NO_FLOW: 'A2ACLI_ERR_USAGE',
  SCOPE_NOT_ALLOWED: 'A2ACLI_ERR_USAGE',
  NOT_TRUSTED: 'A2ACLI_ERR_CARD_INVALID',
  INSECURE_URL: 'A2ACLI_ERR_CARD_INVALID',
  METADATA: 'A2ACLI_ERR_CARD_INVALID',
  REFUSED: 'A2ACLI_ERR_AUTH_FAILED',
  INVALID_ANSWER: 'A2ACLI_ERR_UNREACHABLE',
  NETWORK: 'A2ACLI_ERR_UNREACHABLE',
};

/** What users see of an error of the authorization server. */
export function toCliError(error: OAuthError): CliError {
  const { code, message } = error;
  if (code === 'NO_FLOW') return usage(message, 'Give --client-secret, best as A2ACLI_CLIENT_SECRET');
  const shown = message.replace(/ is not in `clients`$/, ' is not the one of --authorization-server');
  return new CliError(codes[code], shown, undefined, error);
}
