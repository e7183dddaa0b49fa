import type { APIKeySecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { areEqual, sha256, toHex } from '../keys/digest.ts';
import type { AuthenticatedCaller, Authenticator, CredentialedRequest } from './authenticator.ts';

/** Where API keys are sent and whose they are. */
export type ApiKeyOptions = {
  /**
   * The callers by their keys, or what finds a caller by the SHA-256 of a key in lower-case hexadecimal, so that nobody
   * has to store keys.
   */
  readonly keys:
    | ReadonlyMap<string, AuthenticatedCaller>
    | ((sha256: string) => AuthenticatedCaller | undefined | Promise<AuthenticatedCaller | undefined>);
  /** Name of the scheme in the card. Default `apiKey`. */
  readonly name?: string;
  /** For people who read the card. */
  readonly description?: string;
} & ApiKeyPlace;

/** The name of the header, the query parameter or the cookie. Query parameters end up in logs. */
export type ApiKeyPlace =
  | { readonly header: string }
  | { readonly query: string }
  | { readonly cookie: string };

/** Knows callers by a key in a header, a query parameter or a cookie. Spec: §4.5.2. */
export function apiKey({ keys, name = 'apiKey', description, ...place }: ApiKeyOptions): Authenticator {
  const at = readPlace(place);
  const find = typeof keys === 'function' ? (hash: Uint8Array) => keys(toHex(hash)) : finder(keys);

  return Object.assign(
    async (request: CredentialedRequest) => {
      const key = at.read(request);
      if (!key) return undefined;
      const caller = await find(await sha256(key));
      if (!caller) throw new A2AError('UNAUTHENTICATED', 'The API key is not valid');
      return caller;
    },
    {
      securitySchemes: {
        [name]: {
          apiKeySecurityScheme: {
            ...(description && { description }),
            location: at.location,
            name: at.name,
          } satisfies APIKeySecurityScheme,
        },
      },
      securityRequirements: [{ schemes: { [name]: { list: [] } } }],
    },
  );
}

interface Place {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
  read(request: CredentialedRequest): string | undefined;
}

function readPlace(place: ApiKeyPlace): Place {
  if ('header' in place) {
    const name = place.header.toLowerCase();
    return { location: 'header', name: place.header, read: ({ headers }) => headers[name] };
  }
  if ('query' in place) {
    return { location: 'query', name: place.query, read: ({ query }) => query.get(place.query) ?? undefined };
  }
  return {
    location: 'cookie',
    name: place.cookie,
    read: ({ headers }) => cookie(headers.cookie, place.cookie),
  };
}

function cookie(header = '', name: string): string | undefined {
  const found = header.split(';').find((pair) => pair.split('=', 1)[0]?.trim() === name);
  return found?.slice(found.indexOf('=') + 1).trim();
}

/** Every key is looked at, so that the time says nothing about which ones there are. */
function finder(keys: ReadonlyMap<string, AuthenticatedCaller>) {
  const hashed = Promise.all(
    Array.from(keys, async ([key, caller]) => ({ hash: await sha256(key), caller })),
  );
  return async (hash: Uint8Array): Promise<AuthenticatedCaller | undefined> => {
    let found: AuthenticatedCaller | undefined;
    for (const entry of await hashed) if (areEqual(entry.hash, hash)) found = entry.caller;
    return found;
  };
}
