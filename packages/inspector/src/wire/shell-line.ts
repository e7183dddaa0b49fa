import { HIDDEN } from './secrets.ts';

/** A request as a line for the shell describes it. */
export interface ShellRequest {
  readonly method: string;
  readonly url: string;
  /** Without the values of credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** The request as `curl`. A header whose value is hidden becomes a variable of the shell: `$AUTHORIZATION`. */
export function curlOf({ method, url, headers, body }: ShellRequest): string {
  const isStream = headers.accept?.includes('event-stream');
  return [
    `curl -s${isStream ? 'N' : ''}`,
    ...(method === 'GET' ? [] : ['-X', quote(method)]),
    quote(url),
    ...Object.entries(headers).map((header) => `-H ${headerOf(header)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ].join(' ');
}

/** A call of gRPC as `grpcurl`, for an agent with reflection; others need `-proto a2a.proto` beside it. */
export function grpcurlOf({ method, url, headers, body = '{}' }: ShellRequest): string {
  const { host, protocol } = new URL(/^[a-z]+:\/\//i.test(url) ? url : `http://${url}`);
  return [
    'grpcurl',
    ...(/^(https|grpcs):$/.test(protocol) ? [] : ['-plaintext']),
    ...Object.entries(headers).map((header) => `-H ${headerOf(header)}`),
    `-d ${quote(body)}`,
    quote(host),
    quote(method),
  ].join(' ');
}

const headerOf = ([name, value]: [string, string]): string => {
  if (value !== HIDDEN) return quote(`${name}: ${value}`);
  // A variable of the shell cannot begin with a digit.
  const variable = name
    .toUpperCase()
    .replace(/\W/g, '_')
    .replace(/^(?=\d)/, '_');
  return `${quote(`${name}: `)}"$${variable}"`;
};

/** One word of the shell: nothing in it is a command, an expansion or another word. Words may stand beside each other. */
const quote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
