import type { ClientErrorCode } from '../client-error.ts';
import type { SentFile } from './upload-pieces.ts';

/** Browsers have limits of their own, which no request changes. */
export const unlimited: object = {};

/** Pages have no paths. */
export const fileAt = async (path: string): Promise<SentFile> => {
  throw new TypeError(`A page cannot read '${path}': upload a Blob`);
};

/** Only some browsers send a stream. */
export const streamsBodies: boolean = false;

/** Sends a request with the browser's own `fetch`, which adds nothing to the bundle. */
export const sendHttp = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);

/** The error of a request to `name` that got no answer. Browsers do not say why. */
export const noAnswer = (name: string): [code: ClientErrorCode, message: string] => [
  'NETWORK',
  `${name} cannot be reached, or the connection broke: does the agent run at this address?`,
];
