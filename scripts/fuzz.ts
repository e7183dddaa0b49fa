/**
 * `pnpm fuzz --requests 100000 --seed 1`: so many mutated requests per binding over real connections, half of them to a server on
 * the memory store and half to one on SQLite. The last line says what came of them; the exit code is 1 if anything was
 * wrong. `--binding` and `--store` pick one, `--from` the number of the first request.
 */
import { parseArgs } from 'node:util';
import { type BindingName, fuzz } from './fuzz/fuzz.ts';
import type { StoreName } from './fuzz/served.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    requests: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    binding: { type: 'string' },
    store: { type: 'string' },
  },
});
const [requests, from] = [Number(values.requests), Number(values.from)];
if (!(requests >= 1) || !(from >= 0)) throw new TypeError('--requests and --from are whole numbers');
const bindings = oneOf<BindingName>('binding', ['JSONRPC', 'HTTP+JSON', 'GRPC', 'WebSocket']);
const stores = oneOf<StoreName>('store', ['memory', 'sqlite']);

const start = performance.now();
const results = [];
let failed = 0;
for (const binding of bindings) {
  for (const [index, store] of stores.entries()) {
    const share = Math.floor(requests / stores.length);
    const first = from + index * share;
    const count = index === stores.length - 1 ? requests - index * share : share;
    const onProgress = (sent: number) => console.error(`${binding} on ${store}: ${sent} of ${count}`);
    const result = await fuzz({
      binding,
      store,
      seed: values.seed,
      from: first,
      requests: count,
      onProgress,
    });
    for (const { message, request = '', replay = '' } of result.failures)
      console.error(`${message}\n  ${request}\n  ${replay}\n`);
    failed += result.failures.length;
    const { outcomes, grownBytes } = result;
    results.push({ binding, store, requests: count, failures: result.failures.length, grownBytes, outcomes });
  }
}
for (const result of results) console.log(JSON.stringify(result));
const seconds = Math.round((performance.now() - start) / 1_000);
console.log(
  JSON.stringify({ requests: requests * bindings.length, seed: values.seed, failures: failed, seconds }),
);
process.exit(failed > 0 ? 1 : 0);

function oneOf<Name extends string>(option: 'binding' | 'store', names: readonly Name[]): readonly Name[] {
  const wanted = values[option];
  if (wanted === undefined) return names;
  const found = names.filter((name) => name === wanted);
  if (found.length === 0) throw new TypeError(`--${option} is one of ${names.join(', ')}`);
  return found;
}
