import {
  allowInsecureRequests,
  Configuration,
  customFetch,
  fetchProtectedResource,
  WWWAuthenticateChallengeError,
} from 'openid-client';

/** What an agent says about a token that it refused. RFC 6750 §3. */
export interface BearerChallenge {
  /** With Baton's servers, the name of the security scheme in the card. */
  readonly realm: string | undefined;
  /** Such as `invalid_token` or `insufficient_scope`. */
  readonly error: string | undefined;
  readonly scopes: readonly string[];
}

/** The `Bearer` challenges of a `WWW-Authenticate` header; none if it is malformed or too long. */
export async function bearerChallenges(header: string): Promise<readonly BearerChallenge[]> {
  if (header === '' || header.length > maximumLength) return [];
  const configuration = new Configuration({ issuer: 'http://localhost' }, 'none');
  allowInsecureRequests(configuration);
  // The library has a parser of challenges, which it offers only for the answer to a request.
  configuration[customFetch] = async () =>
    new Response(null, { status: 401, headers: { 'www-authenticate': header } });
  try {
    await fetchProtectedResource(configuration, 'none', new URL('http://localhost'), 'GET');
    return [];
  } catch (error) {
    if (!(error instanceof WWWAuthenticateChallengeError)) return [];
    return error.cause
      .filter(({ scheme }) => scheme === 'bearer')
      .map(({ parameters: { realm, error: code, scope = '' } }) => ({
        realm,
        error: code,
        scopes: scope.split(' ').filter((name) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name)),
      }));
  }
}

const maximumLength = 8_192;
