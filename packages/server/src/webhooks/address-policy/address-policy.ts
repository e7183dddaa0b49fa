import { type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import { unlessAborted } from '@batonjs/protocol/timing';
import { lookUpHost, resolveHost } from '#resolve-host';
import { AddressRefused, notPublic } from './address-refused.ts';
import { allowList } from './allow-list.ts';
import { ipVersion } from './ip-version.ts';
import { isPublicAddress } from './public-address.ts';
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
