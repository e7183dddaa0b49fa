import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** What Lambda says of a request at a function URL, in the payload format 2.0. */
export interface UrlEvent {
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  readonly requestContext: { readonly domainName: string; readonly http: { readonly method: string } };
}

export type ResponseStream = Writable;

/** Answers a request by a web handler, and resolves when all of its response is written. `begin` gives the stream. */
export async function answerUrl(
  { rawPath, rawQueryString, headers, cookies = [], body, isBase64Encoded, requestContext }: UrlEvent,
  fetch: (request: Request) => Promise<Response>,
  begin: (about: { statusCode: number; headers: Record<string, string> }) => ResponseStream,
): Promise<void> {
  const { domainName, http } = requestContext;
  const url = new URL(`https://${domainName}${rawPath}`);
  url.search = rawQueryString;
  const request = new Request(url, {
    method: http.method,
    headers: { ...headers, ...(cookies.length > 0 && { cookie: cookies.join('; ') }) },
    ...(body !== undefined && { body: isBase64Encoded ? Buffer.from(body, 'base64') : body }),
  });
  const response = await fetch(request);
  const stream = begin({ statusCode: response.status, headers: Object.fromEntries(response.headers) });
  // The status goes out with the first write, also where there is no body.
  stream.write('');
  try {
    for await (const chunk of response.body ?? []) if (!stream.write(chunk)) await once(stream, 'drain');
  } finally {
    stream.end();
  }
}
