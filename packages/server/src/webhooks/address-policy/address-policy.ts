import { type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import { unlessAborted } from '@batonjs/protocol/timing';
import ipaddr from 'ipaddr.js';
import { lookUpHost, resolveHost } from '#resolve-host';
import type { Resolve } from './resolve-host.ts';

/** The options of a policy, with their defaults. */
export const addressOptions = {
  /**
   * Destinations that are accepted although they are not public: `'localhost:*'`, `'127.0.0.1:8080'`, `'[::1]:*'`,
   * `'10.0.0.0/8'`, `'*.svc.cluster.local:443'`. Without a port, any port. The addresses of a listed name are
   * not checked.
   */
  allow: [] as readonly string[],
  /** Ports of public hosts. Default: 80, 443, and all from 1,024 on. */
  ports: undefined as readonly number[] | undefined,
  /** Whether public hosts may be contacted without TLS; listed ones always may. Default true. */
  http: true,
  /**
   * Finds the addresses of names that are not listed. Default: the DNS, without the hosts file. Runtimes that are not
   * Node.js, Bun or Deno have no default: names that are not listed are refused.
   */
  resolve: undefined as Resolve | undefined,
};

/** Which untrusted URLs may be contacted. */
export type AddressPolicyOptions = OptionsOf<typeof addressOptions>;

/** A URL that may be contacted, at these addresses and no others. */
export interface Destination {
  readonly url: URL;
  /** Host name or address, without brackets and trailing dots. */
  readonly host: string;
  /** Empty for a listed name where the runtime has no DNS. */
  readonly addresses: readonly string[];
}

/** Decides which URLs may be contacted, and where. */
export interface AddressPolicy {
  /** Checks a URL without resolving its name. Throws `AddressRefused`, also for more than 8,192 characters. */
  check(url: string): URL;
  /**
   * Resolves the host once and checks every address. Throws `AddressRefused`, or the error of the resolver. The caller
   * connects to `addresses` and does not resolve the name again.
   */
  destination(url: string, signal: AbortSignal): Promise<Destination>;
}

/** The most characters of a URL. A longer one is refused before it is parsed. */
const longestUrl = 8_192;

/** A policy that accepts public addresses and listed destinations. Throws `TypeError` for a wrong list. */
export function addressPolicy(options: AddressPolicyOptions = {}): AddressPolicy {
  const { allow, ports, http } = withDefaults(addressOptions, options);
  const list = allowList(allow);
  const resolve = options.resolve ?? resolveHost;

  function check(text: string): { url: URL; host: string; port: number } {
    if (text.length > longestUrl) throw new AddressRefused(`must have at most ${longestUrl} characters`);
    if (!URL.canParse(text)) throw new AddressRefused('must be an absolute URL');
    const url = new URL(text);
    const { protocol, username, password } = url;
    if (protocol !== 'https:' && protocol !== 'http:') throw new AddressRefused('must be an https URL');
    if (username || password) throw new AddressRefused('must not contain credentials');
    const host = hostOf(url);
    const port = Number(url.port || (protocol === 'https:' ? 443 : 80));
    if (list.coversName(host, port)) return { url, host, port };
    if (ipVersion(host) !== 0 ? !isPublicAddress(host) : isLocalName(host))
      throw new AddressRefused(notPublic);
    if (protocol === 'http:' && !http) throw new AddressRefused('must be an https URL');
    if (!(ports ? ports.includes(port) : isUsualPort(port)))
      throw new AddressRefused(`must not have port ${port}`);
    if (!resolve && ipVersion(host) === 0)
      throw new AddressRefused('must have a host that is listed: no other name can be checked here');
    return { url, host, port };
  }

  return {
    check: (text) => check(text).url,
    async destination(text, signal) {
      const { url, host, port } = check(text);
      if (ipVersion(host) !== 0) return { url, host, addresses: [host] };
      if (list.coversName(host, port)) {
        const addresses = await unlessAborted((options.resolve ?? lookUpHost)(host, signal), signal);
        return { url, host, addresses };
      }
      const addresses = await unlessAborted(resolve!(host, signal), signal);
      // One private address among public ones is an attack, not an accident.
      const wrong = addresses.some(
        (address) => !isPublicAddress(address) && !list.coversAddress(address, port),
      );
      if (wrong || addresses.length === 0) throw new AddressRefused(notPublic);
      return { url, host, addresses };
    },
  };
}

function hostOf({ hostname }: URL): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  let end = hostname.length;
  while (hostname[end - 1] === '.') end--;
  return hostname.slice(0, end);
}

const isUsualPort = (port: number): boolean => port === 80 || port === 443 || port >= 1_024;

/** Whether a name always resolves to this machine or its network. Also true for the empty name. */
const isLocalName = (host: string): boolean => !host.includes('.') || host.endsWith('.localhost');

/** All public IPv6 addresses are in this block; the others are local, translated, or for special purposes. */
const global = ipaddr.IPv6.parseCIDR('2000::/3');
/** An IPv4 address seen through a translating network (NAT64): as public as the address inside. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Addresses of public ranges that are the platform's own service on every machine of one cloud. */
const platform = new Set(['168.63.129.16']);

/** Whether an address, in its usual text form, can be reached from the Internet. */
function isPublicAddress(text: string): boolean {
  if (ipVersion(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !platform.has(text);
  if (address.match(translated))
    return isPublicAddress(ipaddr.fromByteArray(address.toByteArray().slice(12)).toString());
  return address.range() === 'unicast' && address.match(global);
}

/** The one code that an `AddressRefused` has. */
export type AddressRefusedCode = 'ADDRESS_REFUSED';

/** An address policy refuses a URL. Its message holds nothing secret of the URL. Recognise it with `AddressRefused.is`. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code: AddressRefusedCode = 'ADDRESS_REFUSED';

  /** Like `instanceof`, but also true across two copies of this package. */
  static is(value: unknown, code?: AddressRefusedCode): value is AddressRefused {
    const error = value as AddressRefused | null | undefined;
    return error?.name === 'AddressRefused' && (code === undefined || error.code === code);
  }
}

/** The message for an address of this machine or of a private network. */
export const notPublic = 'must lead to a public address';

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

/** 4 or 6 for an address in its usual text form, without brackets; 0 for any other text. */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4;
  return ipaddr.IPv6.isValid(text) ? 6 : 0;
}
