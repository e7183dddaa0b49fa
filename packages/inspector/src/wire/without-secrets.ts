const plainHeaders: ReadonlySet<string> = new Set([
  'accept',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'content-type',
  'if-none-match',
  'last-event-id',
]);

/** What stands for a value that is not shown. */
export const HIDDEN = '…';

/** The headers of a request. Only those of the protocol are shown with their values: any other may be a credential. */
export const shownHeaders = (headers: Iterable<readonly [string, string]>): Record<string, string> =>
  Object.fromEntries(
    Array.from(headers, ([name, value]) => {
      const lower = name.toLowerCase();
      return [lower, plainHeaders.has(lower) ? value : HIDDEN];
    }),
  );

/** The fewest characters of a secret: shorter ones stand in too many words. */
const shortestSecret = 8;

/** The credentials among the headers that an agent is called with: the values, and what follows their scheme. */
export const credentialsIn = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers)
    .filter(([name]) => !plainHeaders.has(name.toLowerCase()))
    .flatMap(([, value]) => [value, ...value.split(/[\s=;,]+/)])
    .filter(({ length }) => length >= shortestSecret);

/** The headers of a response, without cookies. */
export const receivedHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].map(([name, value]) => [name, name === 'set-cookie' ? HIDDEN : value]));

/** The members of requests and responses that hold webhooks, one or a list. */
const holdWebhooks: ReadonlySet<string> = new Set([
  'taskPushNotificationConfig',
  'pushNotificationConfig',
  'configs',
]);

/** JSON without the secrets of webhooks: `token`, `credentials`, and the query of their URLs, which may be signed. */
export function withoutSecrets(text: string): string {
  if (!/"(token|credentials|taskPushNotificationConfig|pushNotificationConfig|configs)"/.test(text))
    return text;
  try {
    return JSON.stringify(
      JSON.parse(text, (key, value) => {
        if ((key === 'token' || key === 'credentials') && typeof value === 'string' && value !== '')
          return HIDDEN;
        if (holdWebhooks.has(key))
          return Array.isArray(value) ? value.map(withoutSignature) : withoutSignature(value);
        return isWebhook(value) ? withoutSignature(value) : value;
      }),
    );
  } catch {
    return text;
  }
}

const isWebhook = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('token' in value || 'authentication' in value);

/** A webhook without the query and the credentials of its URL. Other values stay as they are. */
function withoutSignature(value: unknown): unknown {
  const { url } = Object(value) as { url?: unknown };
  if (typeof url !== 'string') return value;
  // A text that is no URL was refused, and may hold the same secrets.
  return { ...(value as object), url: withoutQuery(url) || url.split(/[?#]/, 1)[0] };
}

/** A URL without its query and credentials, which may be secrets. */
export function withoutQuery(text: string): string {
  const url = URL.parse(text);
  return url ? url.origin + url.pathname : '';
}
