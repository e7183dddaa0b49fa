/**
 * `pnpm bench:against <commit> [number …]` builds a commit beside this checkout, and runs both in turns: benchmarks 1 to 5, 7
 * and 13, or those that are named. It prints the CPU time per operation of both, database included, and how many times as
 * much this checkout takes: the median of the pairs, the least and the most. `--pairs <n>`: instead of seven.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Checkout, checkOut } from './against/checkout.ts';
import { type Row, rows } from './against/rows.ts';
import type { Baton } from './contenders/baton/baton.ts';
import { alternate, median, round } from './harness/measure.ts';
import { places } from './harness/places.ts';
import { Worker } from './harness/worker.ts';

const { values, positionals } = parseArgs({
  options: { pairs: { type: 'string', default: '7' }, short: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [revision, ...numbers] = positionals;
const pairs = Number(values.pairs);
const unknown = numbers.find((number) => !rows.some((row) => `${row.number}` === number));
if (!revision || !Number.isInteger(pairs) || pairs < 1 || unknown) {
  process.stderr.write(
    unknown
      ? `There is no row ${unknown}; there are ${rows.map(({ number }) => number).join(', ')}\n`
      : 'Usage: pnpm bench:against <commit> [number …] [--pairs n]\n',
  );
  process.exit(2);
}

const here = new URL('./', import.meta.url);
const other: Checkout = await checkOut(revision);
const chosen = rows.filter(({ number }) => numbers.length === 0 || numbers.includes(`${number}`));
process.stdout.write(`µs of CPU per operation, ${other.commit.slice(0, 7)} and here, ${pairs} pairs\n`);
for (const row of chosen) {
  const cpu: Record<'before' | 'after', number[]> = { before: [], after: [] };
  await alternate(['before', 'after'], pairs, async (side) => {
    cpu[side].push(await measure(row, side === 'before' ? other.bench : here));
  });
  const ratios = cpu.after.map((after, pair) => after / cpu.before[pair]!);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(round);
  process.stdout.write(
    `${row.number}. ${row.work}, per ${row.operation}: ${round(median(cpu.before))} → ${round(median(cpu.after))}, ${round(median(ratios))} × (${least}–${most})\n`,
  );
}

/** Microseconds of CPU per operation, of the server and of its database. */
async function measure({ store, http, ask, warmUp, count }: Row, bench: URL): Promise<number> {
  const less = values.short ? 20 : 1;
  let cpu = 0;
  await places[store](async (choice, databaseCpu) => {
    const server = await Worker.start<Baton>(programIn(bench), { ...choice, http }, ['--expose-gc'], bench);
    await ask(server, warmUp / less);
    const before = (await server.ask('cpu')) + databaseCpu();
    const operations = await ask(server, count / less);
    cpu = ((await server.ask('cpu')) + databaseCpu() - before) / operations;
    await server.stop();
  });
  return cpu;
}

/** Older checkouts have it in the folder above. */
function programIn(bench: URL): string {
  const program = 'contenders/baton/baton.ts';
  return existsSync(new URL(program, bench)) ? program : 'contenders/baton.ts';
}
