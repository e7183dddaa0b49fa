import type { APIKeySecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { isSameText } from '@batonjs/protocol/security';
import { sha256, toHex } from '../keys/digest.ts';
import type { AuthenticatedCaller, Authenticator, CredentialedRequest } from './authenticator.ts';

/** Options of `apiKey`: where requests carry the key, and which caller it belongs to. */
export type ApiKeyOptions = {
  /**
   * The callers by their keys, or a function that finds a caller by the SHA-256 hash of a key in lower-case
   * hexadecimal. With the function, you need not store the keys themselves.
   */
  readonly keys:
    | ReadonlyMap<string, AuthenticatedCaller>
    | ((sha256: string) => AuthenticatedCaller | undefined | Promise<AuthenticatedCaller | undefined>);
  /** The name of the scheme in the card. Default `apiKey`. */
  readonly name?: string | undefined;
  /** The description of the scheme in the card. */
  readonly description?: string | undefined;
} & ApiKeyLocation;

/** The name of the header, query parameter or cookie. Query parameters often end up in logs. */
export type ApiKeyLocation =
  | { readonly header: string }
  | { readonly query: string }
  | { readonly cookie: string };

/**
 * Identifies callers by a key in a header, query parameter or cookie. Throws a `TypeError` for a key that is no text or is
 * empty, as that of an environment variable that is not set. Spec: §4.5.2.
 */
export function apiKey({ keys, name = 'apiKey', description, ...location }: ApiKeyOptions): Authenticator {
  const source = keySource(location);
  if (typeof keys !== 'function') mustBeKeys(keys);
  const find = typeof keys === 'function' ? (hash: Uint8Array) => keys(toHex(hash)) : finder(keys);

  return Object.assign(
    async (request: CredentialedRequest) => {
      const key = source.read(request);
      if (!key) return undefined;
      const caller = await find(await sha256(key));
      if (!caller) throw new A2AError('UNAUTHENTICATED', 'The API key is not valid');
      return { ...caller, schemes: [name] };
    },
    {
      securitySchemes: {
        [name]: {
          apiKeySecurityScheme: {
            ...(description && { description }),
            location: source.location,
            name: source.name,
          } satisfies APIKeySecurityScheme,
        },
      },
      securityRequirements: [{ schemes: { [name]: { list: [] } } }],
    },
  );
}

/** From JavaScript and with `!`, a key may be missing. */
function mustBeKeys(keys: ReadonlyMap<unknown, AuthenticatedCaller>): void {
  for (const [key, { scope }] of keys)
    if (typeof key !== 'string' || key === '')
      // Of several that are missing, a map keeps the last.
      throw new TypeError(
        `The API key of "${scope}" is missing, perhaps others too: are their environment variables set?`,
      );
}

/** Where requests carry the key, and how to read it. */
function keySource(given: ApiKeyLocation): {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
  read(request: CredentialedRequest): string | undefined;
} {
  if ('header' in given) {
    const name = given.header.toLowerCase();
    return { location: 'header', name: given.header, read: ({ headers }) => headers[name] };
  }
  if ('query' in given)
    return { location: 'query', name: given.query, read: ({ query }) => query.get(given.query) ?? undefined };
  return {
    location: 'cookie',
    name: given.cookie,
    read: ({ headers }) => cookie(headers.cookie, given.cookie),
  };
}

function cookie(header = '', name: string): string | undefined {
  const found = header.split(';').find((pair) => pair.split('=', 1)[0]?.trim() === name);
  return found?.slice(found.indexOf('=') + 1).trim();
}

/** Compares with every key, so that the time taken does not reveal which keys exist. */
function finder(keys: ReadonlyMap<string, AuthenticatedCaller>) {
  const hashed = Promise.all(
    Array.from(keys, async ([key, caller]) => ({ hash: toHex(await sha256(key)), caller })),
  );
  return async (given: Uint8Array): Promise<AuthenticatedCaller | undefined> => {
    let found: AuthenticatedCaller | undefined;
    const wanted = toHex(given);
    for (const { hash, caller } of await hashed) if (isSameText(hash, wanted)) found = caller;
    return found;
  };
}
