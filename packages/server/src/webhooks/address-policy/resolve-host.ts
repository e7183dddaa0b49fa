import { lookup, Resolver } from 'node:dns/promises';

/** Finds the addresses of a host name. Rejects if it has none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Queries the DNS only, without the hosts file. Unlike the system's lookup it occupies no thread: name servers that
 * never answer could otherwise block all lookups of the process.
 */
export const resolveHost: Resolve | undefined = async (name, signal) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

/** Resolves a name like other programs of this machine, hosts file included; for names that the operator listed. */
export const lookUpHost: Resolve = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);
