import { isLoopback } from '../loopback.ts';

/**
 * The address of a listener as the card of a version has it. `address` is `host:port`, or a URL. As a URL, an address
 * without a scheme is one of TLS (`https`) if the listener has a certificate, or if its host is not loopback, because a
 * proxy has one then.
 */
export function cardAddress(address: string, form: 'host' | 'url', hasTls: boolean): string {
  const [, scheme, host = address] = /^(\w+):\/\/([^/]*)/.exec(address) ?? [];
  if (form === 'host') return host;
  if (scheme) return address;
  const isSecure = hasTls || !isLoopback(host.slice(0, host.lastIndexOf(':')));
  return `${isSecure ? 'https' : 'http'}://${host}`;
}
