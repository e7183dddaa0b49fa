import { StoreError } from '@batonjs/store';

/** The members of a cluster as their URLs say. */
export interface Addresses {
  /** Host and port of each. */
  readonly hosts: readonly string[];
  readonly isSecure: boolean;
  readonly user: string | undefined;
  /** Empty if there is none. */
  readonly password: string;
}

/** Reads the URLs of members. Throws a `StoreError` of code `UNUSABLE` for others than `http://…` and `https://…`. */
export function addressesOf(urls: readonly string[]): Addresses {
  const parsed = urls.map((url) => {
    const one = URL.canParse(url) ? new URL(url) : undefined;
    if (!one?.hostname || !['http:', 'https:'].includes(one.protocol))
      throw new StoreError(
        'UNUSABLE',
        'The URL of a member of etcd is http://host:2379 or https://host:2379',
      );
    return one;
  });
  const [first] = parsed;
  if (!first) throw new StoreError('UNUSABLE', 'A store in etcd needs the URL of one member at least');
  if (parsed.some(({ protocol }) => protocol !== first.protocol))
    throw new StoreError('UNUSABLE', 'All members of etcd are reached by http:// or all by https://');
  return {
    hosts: parsed.map(({ hostname, port, protocol }) => {
      // The port that a URL leaves out is that of its scheme, and not of etcd.
      return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
    }),
    isSecure: first.protocol === 'https:',
    user: first.username ? decodeURIComponent(first.username) : undefined,
    password: decodeURIComponent(first.password),
  };
}
