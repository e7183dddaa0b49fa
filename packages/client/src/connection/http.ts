import ky from 'ky';

/** Sends a request. The session handles deadlines, retries and statuses, so ky's own are turned off. */
export const sendHttp = (url: string, init: RequestInit): Promise<Response> =>
  ky(url, { ...init, timeout: false, retry: 0, throwHttpErrors: false });
