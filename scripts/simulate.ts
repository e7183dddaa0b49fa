/**
 * `pnpm simulate --seeds 10000 --from 1`: servers over one store in virtual time, one scenario per seed. The last line says
 * how many broke an invariant; the exit code is 1 if any did. A failure prints its seed and the smallest history found.
 */
import { parseArgs } from 'node:util';
import { checkSeed } from '../test/simulation/check-seed.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: { seeds: { type: 'string', default: '1000' }, from: { type: 'string', default: '1' } },
});
const [from, seeds] = [Number(values.from), Number(values.seeds)];
if (!(seeds >= 1) || !Number.isInteger(from)) throw new TypeError('--seeds and --from are whole numbers');

const failed: number[] = [];
const start = performance.now();
for (let seed = from; seed < from + seeds; seed++) {
  const failure = await checkSeed(seed);
  if (failure) {
    failed.push(seed);
    console.error(`${failure}\n`);
  }
}
console.log(JSON.stringify({ seeds, failed, seconds: Math.round((performance.now() - start) / 1_000) }));
process.exit(failed.length > 0 ? 1 : 0);
