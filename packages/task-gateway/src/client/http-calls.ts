import { TaskError } from './task-error.ts';

/** How the client calls the gateway. */
export interface CallSettings {
  /** The gateway's URL without trailing slash. */
  readonly url: string;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds without contact after which calls and watches fail. */
  readonly retryForMs: number;
}

/** The path of a task below the gateway's URL. */
export const pathOf = (taskId: string): string => `/task/${encodeURIComponent(taskId)}`;

const firstMs = 200;
const longestMs = 5_000;

/** Makes a call that may be repeated, with exponential backoff and full jitter while the gateway is out of reach. */
export async function call<T>(
  settings: CallSettings,
  path: string,
  {
    body,
    isPost = body !== undefined,
    signal,
  }: { body?: unknown; isPost?: boolean; signal?: AbortSignal } = {},
): Promise<T> {
  const end = performance.now() + settings.retryForMs;
  for (let pauseMs = firstMs; ; pauseMs = Math.min(longestMs, pauseMs * 2)) {
    const answer = await attempt(settings, path, {
      method: isPost ? 'POST' : 'GET',
      headers: { ...settings.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if ('value' in answer) return answer.value as T;
    signal?.throwIfAborted();
    const leftMs = end - performance.now();
    if (!answer.isTransient || leftMs <= 0) throw answer.error;
    await pause(Math.min(leftMs, pauseMs * Math.random()));
  }
}

type Answer = { readonly value: unknown } | { readonly error: TaskError; readonly isTransient: boolean };

async function attempt({ url, fetch }: CallSettings, path: string, init: RequestInit): Promise<Answer> {
  let status: number;
  let value: unknown;
  try {
    const response = await fetch(new Request(`${url}${path}`, init));
    status = response.status;
    value = await response.json();
  } catch (cause) {
    return { error: new TaskError('NETWORK', `${url} cannot be reached`, cause), isTransient: true };
  }
  if (status < 300) return { value };
  const { code = 'NETWORK', message = `Status ${status}` } = Object(Object(value).error);
  return {
    error: new TaskError(String(code), String(message)),
    isTransient: status === 503 || status === 429,
  };
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
