import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  clientCredentialsGrant,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  type TokenEndpointResponse,
} from 'openid-client';
import type { Flow } from '../card/access.ts';
import { type Authorize, type DeviceCode, OAuthError, type OAuthOptions } from '../options.ts';
import { checkAddress } from '../servers/authorization-server.ts';
import { callOption } from '../servers/refusals.ts';

/** The parameters of a request for a token, such as `scope` and `resource`. */
export type TokenParameters = Readonly<Record<string, string>>;

type Flows = Pick<OAuthOptions, 'authorize' | 'showDeviceCode'>;

/** The longest time that a person has for a device code, whatever the server says. */
const maximumDeviceMs = 1_800_000;

/**
 * The flow that gets a token: that of the card, or one that the metadata lists, with a person if there can be one.
 * Undefined if the options make none possible.
 */
export function possibleFlow(
  flow: Flow | undefined,
  { authorize, showDeviceCode }: Flows,
  hasCredentials: boolean,
  metadata: { readonly device_authorization_endpoint?: string; readonly authorization_endpoint?: string },
): Flow | undefined {
  const possible: readonly (Flow | false | undefined)[] = [
    authorize && Boolean(metadata.authorization_endpoint) && 'authorizationCode',
    showDeviceCode && Boolean(metadata.device_authorization_endpoint) && 'deviceCode',
    hasCredentials && 'clientCredentials',
  ];
  return possible.find((candidate): candidate is Flow =>
    Boolean(candidate && (flow === undefined || candidate === flow)),
  );
}

/** Gets a token by a flow. Rejects with errors of the library, and with those of `callOption`. */
export function obtain(
  flow: Flow,
  configuration: Configuration,
  parameters: TokenParameters,
  { authorize, showDeviceCode, now = Date.now }: OAuthOptions,
): Promise<TokenEndpointResponse> {
  if (flow === 'clientCredentials') return clientCredentialsGrant(configuration, parameters);
  if (flow === 'authorizationCode') return byCode(configuration, parameters, authorize!);
  return byDevice(configuration, parameters, showDeviceCode!, now);
}

/** Gets a new token by a refresh token. RFC 6749 §6. */
export const refresh = (configuration: Configuration, refreshToken: string, parameters: TokenParameters) =>
  refreshTokenGrant(configuration, refreshToken, resourceOf(parameters));

/** The authorization code flow with PKCE. RFC 6749 §4.1, RFC 7636. */
async function byCode(configuration: Configuration, parameters: TokenParameters, authorize: Authorize) {
  const pkceCodeVerifier = randomPKCECodeVerifier();
  const expectedState = randomState();
  let redirectUri: string | undefined;
  const begin = async (uri: string) => {
    redirectUri = uri;
    return buildAuthorizationUrl(configuration, {
      ...parameters,
      redirect_uri: uri,
      state: expectedState,
      code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
  };
  const redirected = await callOption(() => authorize(begin));
  if (redirectUri === undefined) throw new OAuthError('REFUSED', '`authorize` did not call `begin`');
  const answer = new URL(redirectUri);
  answer.search = new URL(redirected).search;
  const checks = { pkceCodeVerifier, expectedState };
  return authorizationCodeGrant(configuration, answer, checks, resourceOf(parameters));
}

/** The device code flow. RFC 8628. */
async function byDevice(
  configuration: Configuration,
  parameters: TokenParameters,
  show: NonNullable<OAuthOptions['showDeviceCode']>,
  now: () => number,
) {
  const started = await initiateDeviceAuthorization(configuration, parameters);
  checkAddress(started.verification_uri, 'The verification URL of the authorization server');
  const validMs = Math.min(started.expires_in * 1_000, maximumDeviceMs);
  const code: DeviceCode = {
    userCode: started.user_code,
    verificationUri: started.verification_uri,
    verificationUriComplete: started.verification_uri_complete,
    expiresAt: now() + validMs,
  };
  await callOption(() => show(code));
  const signal = AbortSignal.timeout(validMs);
  return pollDeviceAuthorizationGrant(configuration, started, resourceOf(parameters), { signal }).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error;
      throw new OAuthError('REFUSED', `Nobody confirmed the code within ${validMs} ms`);
    },
  );
}

const resourceOf = ({ resource }: TokenParameters): TokenParameters =>
  resource === undefined ? {} : { resource };
