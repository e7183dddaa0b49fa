import { isLoopback } from '@batonjs/protocol/headers';
import { OAuthError } from '../oauth-error.ts';

/** Whether secrets may travel to a URL: over TLS, or without leaving this machine. */
export function isSafeAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Throws `INSECURE_URL` for a URL that secrets may not travel to. `what` names it in the message. */
export function checkAddress(url: string, what: string): void {
  if (!isSafeAddress(url)) throw insecure(url, what);
}

/** The error for a URL that secrets may not travel to. */
export const insecure = (url: string, what: string): OAuthError =>
  new OAuthError('INSECURE_URL', `${what} is ${shown(url)}: it must be https, or http on this machine`);

/** A URL of a card or of metadata in a message: without credentials, and of bounded length. */
export const shown = (url: string): string => {
  if (!URL.canParse(url)) return 'no URL';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`.slice(0, 200);
};
