import ky from 'ky';
import type { ClientErrorCode } from '../client-error.ts';
import type { SentFile } from './upload-pieces.ts';

/**
 * Options of a request whose only limits are those of the client. `fetch` of Node.js ends a request after 300 s without a
 * byte. Its own dispatcher, which may be one of the user, sends the request all the same. Other runtimes ignore it.
 */
export const unlimited: object = {
  dispatcher: {
    dispatch: (options: object, handler: object): boolean =>
      Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1')).dispatch(
        { ...options, headersTimeout: 0, bodyTimeout: 0 },
        handler,
      ),
  },
};

/** The file at a path, which is read as it is sent. `openAsBlob` of Node.js has sizes of 32 bits. */
export const fileAt = async (path: string): Promise<SentFile> => {
  const [{ createReadStream }, { stat }, { Readable }] = await Promise.all([
    import('node:fs'),
    import('node:fs/promises'),
    import('node:stream'),
  ]);
  const { size } = await stat(path);
  const slice = (start: number, end: number) => ({
    stream: () =>
      Readable.toWeb(createReadStream(path, { start, end: end - 1, highWaterMark: 262_144 })) as ReturnType<
        SentFile['stream']
      >,
  });
  return { name: path.replace(/.*[\\/]/, ''), size, slice, ...slice(0, Number.POSITIVE_INFINITY) };
};

/** Whether a body may be a stream. */
export const streamsBodies: boolean = true;

/** Sends a request. The session handles deadlines, retries and statuses, so ky's own are turned off. */
export const sendHttp = (url: string, init: RequestInit): Promise<Response> =>
  ky(url, { ...init, timeout: false, retry: 0, throwHttpErrors: false });

/** The error of a request to `name` that got no answer: its code and message. */
export function noAnswer(name: string, error: unknown): [code: ClientErrorCode, message: string] {
  const code = codeOf(error);
  const why = code && ` (${code})`;
  // Of a `fetch` that was passed in.
  if (code === 'UND_ERR_HEADERS_TIMEOUT') {
    const limit = 'limit of the `fetch` that was passed in, 300 s in Node.js';
    const remedy =
      'raise its `headersTimeout`, or send with `returnImmediately` and follow the task, which goes on';
    return ['TIMEOUT', `${name} did not answer within the ${limit}${why}: ${remedy}`];
  }
  if (code === '') return ['NETWORK', `${name} cannot be reached, or the connection broke`];
  if (unreached.test(code))
    return ['NETWORK', `${name} cannot be reached${why}: does the agent run at this address?`];
  if (/CERT|SIGNATURE|TLS|SSL|EPROTO/.test(code)) {
    const problem = 'its certificate is not trusted here, or it speaks no TLS';
    return ['NETWORK', `No secure connection to ${name}${why}: ${problem}`];
  }
  return ['NETWORK', `The connection to ${name} broke before the answer was complete${why}`];
}

/** Codes of attempts to connect, which end before a request is sent. */
const unreached =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;

/** The system's code for a failed connection, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return '';
}
