/** Sends a request. A browser's own fetch does all that is asked for here, and need not be downloaded. */
export const sendHttp = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);
