import ipaddr from 'ipaddr.js';
import { ipVersion } from './ip-version.ts';

interface Entry {
  /** Undefined: any. */
  readonly port: number | undefined;
  readonly coversName: (name: string) => boolean;
  readonly coversAddress: (address: string) => boolean;
}

/** Destinations that may be contacted at any address. */
export interface AllowList {
  /** Whether the host is listed by its name. */
  coversName(name: string, port: number): boolean;
  /** Whether an address is listed. */
  coversAddress(address: string, port: number): boolean;
}

/**
 * Reads `localhost:*`, `127.0.0.1:8080`, `[::1]:*`, `10.0.0.0/8`, `*.svc.cluster.local:443`, `*`. Without a port, any
 * port. Throws `TypeError` for other texts.
 */
export function allowList(texts: readonly string[]): AllowList {
  const entries = texts.map(readEntry);
  return {
    coversName: (name, port) => entries.some((entry) => onPort(entry, port) && entry.coversName(name)),
    coversAddress: (address, port) =>
      entries.some((entry) => onPort(entry, port) && entry.coversAddress(address)),
  };
}

const onPort = (entry: Entry, port: number): boolean => entry.port === undefined || entry.port === port;

function readEntry(text: string): Entry {
  const bare = ipVersion(text) === 6 || isIPv6Block(text);
  const [, inBrackets, plain, ofPort] = bare
    ? ['', text]
    : (/^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\*|\d{1,5}))?$/.exec(text) ?? []);
  const host = (inBrackets ?? plain)?.toLowerCase();
  const port = ofPort === undefined || ofPort === '*' ? undefined : Number(ofPort);
  if (!host || (port !== undefined && (port < 1 || port > 65_535)))
    throw new TypeError(`\`allow\` cannot have '${text}'; it takes entries such as 'localhost:8080'`);
  if (ipVersion(host) !== 0 || host.includes('/')) return { port, ...block(host, text) };
  return { port, coversName: nameMatcher(host), coversAddress: () => false };
}

const isIPv6Block = (text: string): boolean => /^[^/[\]]*:[^/[\]]*:[^/[\]]*\/\d+$/.test(text);

function block(host: string, text: string): Pick<Entry, 'coversName' | 'coversAddress'> {
  const [base, length] = host.split('/') as [string, string | undefined];
  if (ipVersion(base) === 0 || (length !== undefined && !ipaddr.isValidCIDR(host)))
    throw new TypeError(`\`allow\` cannot have '${text}'; it takes addresses such as '10.0.0.0/8'`);
  const network = ipaddr.parseCIDR(
    length === undefined ? `${base}/${ipVersion(base) === 4 ? 32 : 128}` : host,
  );
  const coversAddress = (address: string): boolean => {
    if (ipVersion(address) === 0 || address.includes('%')) return false;
    const parsed = ipaddr.parse(address);
    return parsed.kind() === network[0].kind() && parsed.match(network);
  };
  return { coversName: coversAddress, coversAddress };
}

function nameMatcher(host: string): (name: string) => boolean {
  if (host === '*') return () => true;
  if (host.startsWith('*.')) return (name) => name.endsWith(host.slice(1));
  return (name) => name === host;
}
