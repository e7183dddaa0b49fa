import ipaddr from 'ipaddr.js';
import { ipVersion } from './ip-version.ts';

/** All public IPv6 addresses are in this block; the others are local, translated, or for special purposes. */
const global = ipaddr.IPv6.parseCIDR('2000::/3');
/** An IPv4 address seen through a translating network (NAT64): as public as the address inside. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Addresses of public ranges that are the platform's own service on every machine of one cloud. */
const platform = new Set(['168.63.129.16']);

/** Whether an address, in its usual text form, can be reached from the Internet. */
export function isPublicAddress(text: string): boolean {
  if (ipVersion(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !platform.has(text);
  if (address.match(translated))
    return isPublicAddress(ipaddr.fromByteArray(address.toByteArray().slice(12)).toString());
  return address.range() === 'unicast' && address.match(global);
}
