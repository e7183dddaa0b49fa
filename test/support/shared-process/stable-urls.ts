import module from 'node:module';

/**
 * vitest loads each test file, and each setup file again and again, by an address with the time in it. Node.js keeps what it
 * compiled by address: each run would leave some thousand files in `node_modules/.cache`, and find none of them. With the
 * number of the load in place of the time the next run finds them. Runtimes without these hooks keep nothing.
 */
const loads = new Map<string, number>();

module.registerHooks?.({
  resolve(specifier, context, nextResolve) {
    const result = nextResolve(specifier, context);
    const [address = '', time] = result.url.split('?vitest=');
    if (time === undefined) return result;
    const load = (loads.get(address) ?? 0) + 1;
    loads.set(address, load);
    return { ...result, url: `${address}?vitest=${load}` };
  },
});
