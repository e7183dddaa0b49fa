import { ClientError } from '../client-error.ts';

/** Parses an absolute `http:` or `https:` URL. Throws `INVALID_URL` for anything else; its message suggests a fix. */
export function parseUrl(given: string | URL): URL {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  const meant = `http://${given}`;
  const hint = !String(given).includes('//') && URL.canParse(meant) ? `: did you mean ${meant}` : '';
  throw new ClientError('INVALID_URL', `"${given}" is no http:// or https:// URL${hint}`);
}
