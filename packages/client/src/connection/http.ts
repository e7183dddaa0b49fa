import ky from 'ky';

/** Sends a request. Deadlines, retries and statuses are looked after elsewhere. */
export const sendHttp = (url: string, init: RequestInit): Promise<Response> =>
  ky(url, { ...init, timeout: false, retry: 0, throwHttpErrors: false });
