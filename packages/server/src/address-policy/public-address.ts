import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IPv6 addresses are given out of this block only; what lies outside is local, a translation, or for other purposes. */
const global = ipaddr.IPv6.parseCIDR('2000::/3');
/** An IPv4 address seen through a translating network (NAT64): as public as the address inside. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Looks public, yet is the platform's own service on every machine of one cloud. */
const platform = new Set(['168.63.129.16']);

/** Whether an address, in its usual text form, is one that anybody on the Internet can reach. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !platform.has(text);
  if (address.match(translated))
    return isPublicAddress(ipaddr.fromByteArray(address.toByteArray().slice(12)).toString());
  return address.range() === 'unicast' && address.match(global);
}
