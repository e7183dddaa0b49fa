import ipaddr from 'ipaddr.js';

/** 4 or 6 for an address in its usual text form, without brackets; 0 for any other text. */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4;
  return ipaddr.IPv6.isValid(text) ? 6 : 0;
}
