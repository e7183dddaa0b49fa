/** Sends a request with the browser's own `fetch`, which adds nothing to the bundle. */
export const sendHttp = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);
