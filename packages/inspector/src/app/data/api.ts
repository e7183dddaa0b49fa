import type { Problem } from '../../api/command.ts';
import { accessHeaders } from './access.ts';

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
export const apiUrl = (path: string): string => new URL(`api${path}`, document.baseURI).href;

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
export async function errorOf(response: Response): Promise<ApiError> {
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
