import { isLoopback } from '@batonjs/protocol/headers';

/** Where a channel leads. */
export interface Target {
  /** `host:port`, as grpc-js takes it. */
  readonly host: string;
  readonly isSecure: boolean;
}

const pattern = /^(?:(grpcs?|https?):\/\/)?((?:\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?)\/?$/i;

/**
 * The target that an address of a card names: `host:port`, or a URL of the schemes `grpc`, `http` (plaintext), `grpcs`
 * and `https` (TLS). Without a scheme, loopback means plaintext, and any other host TLS. Undefined for other addresses,
 * and for plaintext on other hosts unless `plaintext` allows it.
 */
export function targetOf(address: string, plaintext: boolean): Target | undefined {
  const [, scheme, host] = pattern.exec(address) ?? [];
  if (!host) return undefined;
  const mayBePlain = plaintext || isLoopback(withoutPort(host));
  const isSecure = scheme ? /s$/i.test(scheme) : !mayBePlain;
  return isSecure || mayBePlain ? { host, isSecure } : undefined;
}

/** The colons of an IPv6 address stand in brackets. */
function withoutPort(host: string): string {
  const colon = host.lastIndexOf(':');
  return colon > host.lastIndexOf(']') ? host.slice(0, colon) : host;
}
