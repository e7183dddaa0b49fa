/** Why a call failed. Recognise it with `TaskError.is(error, code?)`. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
  /** The gateway's code, such as `TASK_CONFLICT`; `NETWORK` if the gateway cannot be reached. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Whether a value is a `TaskError`, also one of another copy of this package; with a code, one with that code. */
  static is(value: unknown, code?: string): value is TaskError {
    const error = value as TaskError | null | undefined;
    return error?.name === 'TaskError' && (code === undefined || error.code === code);
  }
}

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
  let text: string;
  try {
    const response = await fetch(new Request(`${url}${path}`, init));
    status = response.status;
    text = await response.text();
  } catch (cause) {
    return { error: new TaskError('NETWORK', `${url} cannot be reached`, cause), isTransient: true };
  }
  const value = tryJson(text);
  if (status < 300 && value !== undefined) return { value };
  const foreign = `${url} answers ${status}, but not as a gateway of tasks does: is a proxy in front of it?`;
  const { code = 'NETWORK', message = foreign } = Object(Object(value).error);
  return {
    error: new TaskError(String(code), String(message)),
    // A proxy has the others while the gateway starts.
    isTransient: [429, 502, 503, 504].includes(status) || value === undefined,
  };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
