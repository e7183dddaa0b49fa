import { operationNames, operations } from '@batonjs/protocol/operations';

/** What stands for a value that is not shown. */
export const HIDDEN = '…';

/** Headers whose values are shown: none of them is a credential. Others are, perhaps. */
const harmless =
  /^(host|connection|user-agent|accept|accept-(language|encoding|charset)|content-(type|length|encoding|language)|origin|sec-fetch-\w+|sec-ch-[\w-]+|x-forwarded-(for|host|proto|port)|x-request-id|traceparent|tracestate|(x-)?a2a-extensions|a2a-version|last-event-id|if-none-match|cache-control|pragma|dnt|te|transfer-encoding|upgrade|upgrade-insecure-requests|grpc-(encoding|accept-encoding|timeout)|priority)$/;

/** The members of a query whose values are shown: those of the operations. */
const plainQuery: ReadonlySet<string> = new Set(
  [
    ...operationNames.flatMap((name) => {
      const row = operations[name];
      return 'query' in row ? Object.keys(row.query) : [];
    }),
    'tenant',
    'A2A-Version',
  ].map((name) => name.toLowerCase()),
);

/** Members of JSON that hold a secret by their name, whatever is written between its words. */
const secretName =
  /(password|passwd|passphrase|secret|credentials?|apikey|accesskey|privatekey|authorization|cookie|signature|(?<!page)token)$/;

/** A credential in a text: after its scheme, in a link or callback, in the query of a URL, or before its host. */
const writtenSecret =
  /(\b(?:Bearer|Basic|Digest|ApiKey)\s)\s*[\w.~+/=-]{8,}|(\/callbacks\/)[\w.~%-]{8,}|([?&][\w.~%[\]-]{1,60}=)[^\s&#"'<>()]+|(:\/\/)[^\s/@"'<>]{1,500}(?=@)/gi;

/** Longer bodies are not searched for secrets, and so not kept. In characters. */
const mostSearched = 262_144;

/** With more secrets in one request, no text of it is kept: each is searched in every text. */
const mostSecrets = 100;

/** The fewest characters of a credential, and of a secret in JSON: shorter ones stand in too many words. */
const shortestSecret = 8;

/** The values of headers that may be credentials, and what follows their scheme. */
export const credentialsIn = (headers: GivenHeaders): string[] =>
  Object.entries(headers)
    .flatMap(([name, value]) => (value === undefined || harmless.test(name.toLowerCase()) ? [] : value))
    .flatMap((value) => [value, ...value.split(/[\s=;,]+/)])
    .filter(({ length }) => length >= shortestSecret);

/** The headers of an answer without those that say something of the caller. */
export const receivedHeaders = (headers: Iterable<readonly [string, string]>): Record<string, string> =>
  Object.fromEntries(
    Array.from(headers, ([name, value]) => [name, /cookie|www-auth/i.test(name) ? HIDDEN : value]),
  );

type GivenHeaders = Readonly<Record<string, string | undefined>>;

interface Given {
  readonly headers: GivenHeaders;
  readonly query?: URLSearchParams;
}

/** Leaves the secrets of one request out of all that is kept of it and of its response. */
export class Secrets {
  #secrets: readonly string[] = [];

  constructor({ headers, query = new URLSearchParams() }: Given) {
    const given = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || harmless.test(name.toLowerCase()) ? [] : [value],
    );
    const hidden = [...query].filter(([name]) => !plainQuery.has(name.toLowerCase()));
    const secrets = [
      ...credentialsIn(headers),
      ...given.flatMap(passwordOf),
      ...hidden.map(([, value]) => value).filter((value) => value.length > 3),
    ];
    this.#learn(secrets);
  }

  /** Headers with the values that are no credentials. */
  headers(headers: GivenHeaders): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).flatMap(([given, value]) => {
        const name = given.toLowerCase();
        return value === undefined ? [] : [[name, harmless.test(name) ? this.#text(value) : HIDDEN]];
      }),
    );
  }

  /** Path and query without values that no operation knows. */
  target({ path, query }: { readonly path: string; readonly query: URLSearchParams }): string {
    const shown = [...query].map(([name, value]) =>
      plainQuery.has(name.toLowerCase())
        ? `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
        : `${encodeURIComponent(name)}=${HIDDEN}`,
    );
    return this.path(path) + (shown.length > 0 ? `?${shown.join('&')}` : '');
  }

  /** The path, which may repeat a secret of the query. */
  path(path: string): string {
    return this.#text(path);
  }

  /** JSON without secrets; for another text, what stands for it. One that is too long to be searched is not kept. */
  json(text: string, otherwise = HIDDEN, most = mostSearched): string {
    if (text === '') return '';
    if (text.length > most) return HIDDEN;
    try {
      const value: unknown = JSON.parse(text, (name, value) => this.#byName(name, value));
      return JSON.stringify(value, (_, part) => (typeof part === 'string' ? this.#text(part) : part));
    } catch {
      return this.#text(otherwise);
    }
  }

  /** Server-sent events, or lines of JSON, without secrets. */
  lines(text: string): string {
    return text.replace(/^(data: ?|)(.+)$/gm, (line, field: string, rest: string) => {
      if (/^(id|event|retry)?:/.test(line)) return this.#text(line);
      return field + this.json(rest);
    });
  }

  #byName(name: string, value: unknown): unknown {
    if (secretName.test(name.toLowerCase().replace(/[^a-z]/g, ''))) return this.#withoutTexts(value);
    return typeof value === 'string' && /^(url|uri)$/i.test(name) ? withoutSignature(value) : value;
  }

  /** A text, or a list of texts, is hidden; an object has members that are looked at by their own names. */
  #withoutTexts(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#withoutTexts(each));
    if (typeof value === 'object' || typeof value === 'boolean' || value === '') return value;
    // An answer may repeat it in a text.
    if (typeof value === 'string' && value.length >= shortestSecret) this.#learn([value]);
    return HIDDEN;
  }

  #learn(secrets: readonly string[]): void {
    const all = secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]);
    // Longer ones first: a secret may contain another one.
    this.#secrets = [...new Set([...this.#secrets, ...all])].sort((one, other) => other.length - one.length);
  }

  #text(text: string): string {
    if (this.#secrets.length > mostSecrets) return HIDDEN;
    const plain = text.replace(writtenSecret, `$1$2$3$4${HIDDEN}`);
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), plain);
  }
}

/** JSON for those who may only look, however long it is: without what may be a secret of anyone. */
export const withoutSecrets = (json: string): string =>
  new Secrets({ headers: {} }).json(json, HIDDEN, Number.POSITIVE_INFINITY);

/** A URL without the query, which may be signed, and without credentials. */
function withoutSignature(text: string): string {
  const url = URL.parse(text);
  if (!url) return text.split(/[?#]/, 1)[0]!;
  if (!url.search && !url.username && !url.password) return text;
  return `${url.protocol}//${url.host}${url.pathname}${url.search && `?${HIDDEN}`}`;
}

/** The name and the password of the scheme Basic. */
function passwordOf(header: string): string[] {
  const [, encoded] = /^Basic\s+(\S+)$/i.exec(header) ?? [];
  if (encoded === undefined) return [];
  const decoded = Buffer.from(encoded, 'base64').toString();
  return [decoded, decoded.slice(decoded.indexOf(':') + 1)].filter(({ length }) => length > 3);
}
