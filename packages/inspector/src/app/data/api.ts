import { backoffMs, sleep } from '@batonjs/protocol/timing';
import type { Problem } from '../../api/command.ts';

/** An error of the inspector or of an agent, as it is shown. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

/** Any failure as an error that is shown. */
export const apiErrorOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, { message: String(error) });

/** The path of an agent, or of something that belongs to it. */
export const agentPath = (agent: string, ...below: readonly string[]): string =>
  `/${['agents', agent, ...below].map(encodeURIComponent).join('/')}`;

/** The address of a resource of the inspector, wherever it is mounted. */
const apiUrl = (path: string): string => new URL(`api${path}`, document.baseURI).href;

/** Reads from the inspector. Rejects with an `ApiError`. */
export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  call(path, { headers: accessHeaders(), ...(signal && { signal }) });

/** Asks the inspector to do something. Rejects with an `ApiError`. */
export const post = <T>(path: string, body: unknown = {}): Promise<T> =>
  call(path, {
    method: 'POST',
    headers: { ...accessHeaders(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function call<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(apiUrl(path), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, { message: 'The inspector cannot be reached', code: 'NETWORK' });
  }
  if (!response.ok) throw await errorOf(response);
  return (await response.json().catch(() => ({}))) as T;
}

/** The error in a reply. */
async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as { problem?: Problem };
  return new ApiError(
    response.status,
    body.problem ?? { message: `The inspector answered ${response.status}` },
  );
}

/** A query without members that are undefined or empty. A list stands there once for each of its texts. */
export function queryOf(
  members: Readonly<Record<string, string | number | true | readonly string[] | undefined>>,
): string {
  const set = Object.entries(members)
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, String(one)]))
    .filter(([, text]) => text !== '');
  return set.length > 0 ? `?${new URLSearchParams(set)}` : '';
}

/** A token belongs to one mount: an origin may serve several inspectors. */
const key = () => `baton-inspector-token ${new URL(document.baseURI).pathname}`;

/** Takes the token out of the address, where it must not stay, and keeps it for this browser: a second tab needs it too. */
export function takeToken(): void {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (!token) return;
  localStorage.setItem(key(), token);
  history.replaceState(null, '', `${location.pathname}#/`);
}

/** Exchanges a link `#look=SECRET/page` for a cookie, once, and goes to its page. Resolves to why it was refused. */
export async function takeLink(): Promise<string | undefined> {
  const [, secret, page] = /^#look=([\w-]+)(.*)$/.exec(location.hash) ?? [];
  if (!secret) return undefined;
  history.replaceState(null, '', `${location.pathname}#${page || '/'}`);
  return post('/look', { secret }).then(
    () => undefined,
    (error: unknown) => apiErrorOf(error).message,
  );
}

/** Keeps a token that a person pasted, or the address that contains it. */
export function keepToken(text: string): void {
  localStorage.setItem(key(), /#token=([\w-]+)/.exec(text)?.[1] ?? text.trim());
}

/** The headers that open the inspector. */
function accessHeaders(): Record<string, string> {
  const token = localStorage.getItem(key());
  return token ? { authorization: `Bearer ${token}` } : {};
}

export type FeedState = 'open' | 'lost';

/** What a feed is opened with. */
export interface FeedOptions<T> {
  /** Called for each connection: it may say where to go on. */
  readonly path: () => string;
  readonly onValue: (value: T) => void;
  readonly onState?: (state: FeedState) => void;
  /** The inspector refused the feed: asking again would not help, so it is closed. */
  readonly onRefused?: (error: ApiError) => void;
}

/** Without a byte for so long, in milliseconds, a connection counts as broken: the inspector sends something every 10 s. */
const silenceMs = 25_000;
const backoff = { initialMs: 250, maxMs: 2_000, jitter: 0 };

/**
 * Reads a feed of the inspector and reconnects for as long as it is open and not refused. Returns the function that closes it.
 */
export function openFeed<T>({ path, onValue, onState, onRefused }: FeedOptions<T>): () => void {
  const closing = new AbortController();
  void (async () => {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        const refusal = await readOnce(
          path(),
          closing.signal,
          (value: T) => {
            failures = 0;
            onValue(value);
          },
          () => onState?.('open'),
        );
        if (refusal) return closing.signal.aborted ? undefined : onRefused?.(refusal);
      } catch {
        // Said by the state.
      }
      if (closing.signal.aborted) return;
      onState?.('lost');
      await sleep(backoffMs(++failures, backoff), closing.signal);
    }
  })();
  return () => closing.abort();
}

/** Resolves when the connection ended, to the error if the inspector refused it for good. Rejects if it broke. */
async function readOnce<T>(
  path: string,
  closed: AbortSignal,
  onValue: (value: T) => void,
  onOpen: () => void,
): Promise<ApiError | undefined> {
  const silent = new AbortController();
  const signal = AbortSignal.any([closed, silent.signal]);
  let timer = setTimeout(() => silent.abort(), silenceMs);
  try {
    const response = await fetch(apiUrl(path), { headers: accessHeaders(), signal });
    if (response.status >= 400 && response.status < 500) return await errorOf(response);
    if (!response.ok || !response.body) throw new Error(`The inspector answered ${response.status}`);
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') onValue(JSON.parse(line) as T);
    }
  } finally {
    clearTimeout(timer);
  }
}
