/**
 * `pnpm mutate [part …]`: mutates the sources of these parts (all of `scripts/mutation/parts.ts` by default), runs their
 * tests and writes scores and survivors into `docs/reports/mutation.md`. Takes minutes to hours. `--page` writes only the page,
 * from what was measured before; `--changed` runs only what may have another outcome than in the last run; `--concurrency`
 * is how many mutations are tried at once, 2 by default; `--survivors` tries only the places again where a mutation
 * survived; `--today` tries one part, another one each day; `--sample 150 --seed 1` tries 150 mutations of each part,
 * chosen at random, the same for the same seed. Exits with 1 if a part has less than 90 % or a survivor that nothing explains.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { explanations } from './mutation/explanation.ts';
import { explain, page, type Results } from './mutation/page.ts';
import { parts } from './mutation/parts.ts';
import { scoreOf } from './mutation/result.ts';
import { run } from './mutation/run.ts';
import { linesOf, withRetried } from './mutation/survivors.ts';

const least = 90;
const root = resolve(import.meta.dirname, '..');
const kept = join(root, 'scripts/mutation/results.json');
const { values, positionals } = parseArgs({
  options: {
    page: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    survivors: { type: 'boolean', default: false },
    today: { type: 'boolean', default: false },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
const all = Object.keys(parts);
const unknown = positionals.filter((name) => !parts[name]);
if (unknown.length > 0) throw new TypeError(`No part is called ${unknown.join(', ')}: ${all.join(', ')}`);

const sample = values.sample === undefined ? undefined : { size: Number(values.sample), seed: values.seed };
if (sample && (values.survivors || values.changed || !(sample.size > 0)))
  throw new TypeError('A sample is a whole number of mutations, without `--survivors` and `--changed`');

const measured = (): Results => (existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {});
/** Another part each day, so that each has its turn. */
const partOfToday = all[Math.floor(Date.now() / 86_400_000) % all.length]!;
const chosen = values.today ? [partOfToday] : positionals.length > 0 ? positionals : all;
for (const name of values.page ? [] : chosen) {
  const before = values.survivors ? measured()[name] : undefined;
  const retried = before && linesOf(before.survivors, (file) => readFileSync(join(root, file), 'utf8'));
  const gone = before && retried ? before.survivors.length - retried.found.length : 0;
  if (gone > 0)
    console.error(`${name}: the lines of ${gone} survivors have changed: measure the whole part again`);
  if (values.survivors && !retried?.lines.length) continue;
  const options = {
    lines: retried?.lines,
    changed: values.changed,
    sample,
    concurrency: Number(values.concurrency),
  };
  const found = await run(name, parts[name]!, join(root, '.reports/mutation'), options);
  const result = before && retried ? withRetried(before, retried.found, found) : found;
  console.log(`${name}: ${scoreOf(result)} %, ${result.survivors.length} survivors`);
  // Read only now: another run may have measured another part meanwhile.
  writeFileSync(kept, `${JSON.stringify({ ...measured(), [name]: result }, null, 2)}\n`);
}
const results = measured();
writeFileSync(join(root, 'docs/reports/mutation.md'), page(all, results, explanations));

for (const [name, result] of Object.entries(results)) {
  const unexplained = result.survivors.filter((survivor) => explain(survivor, explanations) === undefined);
  for (const { file, line, replacement } of unexplained) console.error(`${file}: ${line} → ${replacement}`);
  if (unexplained.length === 0 && scoreOf(result) >= least) continue;
  console.error(`${name}: ${scoreOf(result)} %, ${unexplained.length} survivors are not explained`);
  process.exitCode = 1;
}
