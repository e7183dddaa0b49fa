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

/** The headers of a response, without cookies. */
export const receivedHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].map(([name, value]) => [name, name === 'set-cookie' ? HIDDEN : value]));

/** JSON without the secrets of webhooks: `token` and `credentials` beside or below an object with a `url`. */
export function withoutSecrets(text: string): string {
  if (!/"(token|credentials)"/.test(text)) return text;
  try {
    return JSON.stringify(
      JSON.parse(text, (key, value) =>
        (key === 'token' || key === 'credentials') && typeof value === 'string' && value !== ''
          ? HIDDEN
          : value,
      ),
    );
  } catch {
    return text;
  }
}
