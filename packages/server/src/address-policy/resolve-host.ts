import { lookup, Resolver } from 'node:dns/promises';

/** Finds the addresses of a host name. Rejects if it has none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks the DNS, and nothing else: no hosts file. Unlike the system's own lookup it does not occupy a thread, which a name
 * server that never answers would otherwise take from everybody.
 */
export const resolveHost: Resolve = async (name, signal) => {
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

/** Asks as every other program of this machine would; for names that the operator listed. */
export const lookUpHost: Resolve = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);
