import type { Explanation } from './explanation.ts';
import { type Result, type Survivor, scoreOf } from './result.ts';

/** What was measured, by part. */
export type Results = Readonly<Record<string, Result>>;

const head = `# Mutation testing

\`pnpm mutate [part …]\` changes the sources in many small ways, one at a time, and runs the tests of each part: a change
that no test notices survives. This page is written by that command, from what it measured; parts that are not in the
first table were not run. \`pnpm mutate --page\` writes the page again from \`scripts/mutation/results.json\`, without a run.

Every part has to reach 90 %, with each survivor explained.

A run of the larger parts takes hours. Of these a sample was run: so many mutations, chosen at random, the same for the
same seed. The second column says of how many, and only survivors of the sample are listed. Other parts were run whole.

Left out is each \`true\` in a table of type \`OptionNames<…>\` or \`Record<…, true>\`: only its names are read, and the
compiler refuses any other value.

The score is the share of mutations that were noticed, in percent, rounded down. "Hung" are those that were noticed only
because the tests did not end: after five times their usual duration and 60 s more, or after a hundred times as many
passes through the changed code. Which files are mutated, and by which tests they are checked, is in
\`scripts/mutation/parts.ts\`, and why a survivor is no missing test in \`scripts/mutation/explanations.json\`.
`;

/** The page. `names` are all parts that can be run. */
export function page(
  names: readonly string[],
  results: Results,
  explanations: readonly Explanation[],
): string {
  const run = names.filter((name) => results[name]);
  const rest = names.filter((name) => !results[name]);
  const lines = [
    head,
    '## Scores',
    '',
    '| part | score | mutations | failed a test | hung | survived | explained | measured |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...run.map((name) => row(name, results[name]!, explanations)),
    '',
    ...(rest.length > 0 ? [`Not run: ${rest.join(', ')}.`, ''] : []),
    ...run.flatMap((name) => survivorsOf(name, results[name]!, explanations)),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Why a mutation survives; undefined if nothing explains it. */
export const explain = (survivor: Survivor, explanations: readonly Explanation[]): string | undefined =>
  explanations.find(
    ({ file, line, pattern, replacements }) =>
      file === survivor.file &&
      (pattern === undefined ? line === survivor.line : new RegExp(pattern).test(survivor.line)) &&
      (!replacements || replacements.includes(survivor.replacement)),
  )?.why;

function row(name: string, result: Result, explanations: readonly Explanation[]): string {
  const { date, killed, timeout, survivors, sample } = result;
  const explained = survivors.filter((survivor) => explain(survivor, explanations) !== undefined);
  const count = killed + timeout + survivors.length;
  const tried = sample ? `${count} of ${sample.of}, seed ${sample.seed}` : `all ${count}`;
  const cells = [name, scoreOf(result), tried, killed, timeout, survivors.length, explained.length, date];
  return `| ${cells.join(' | ')} |`;
}

function survivorsOf(name: string, { survivors }: Result, explanations: readonly Explanation[]): string[] {
  if (survivors.length === 0) return [];
  const rows = survivors.map((survivor) => {
    const { file, original, replacement } = survivor;
    const path = file.replace(/^packages\//, '');
    const why = explain(survivor, explanations) ?? '**not explained**';
    return `| [${path}](../../${file}) | ${code(original)} → ${code(replacement)} | ${why} |`;
  });
  return [`## Survivors of ${name}`, '', '| file | mutation | why |', '| --- | --- | --- |', ...rows, ''];
}

function code(text: string): string {
  if (text === '') return 'nothing';
  const short = text.length > 90 ? `${text.slice(0, 60)} … ${text.slice(-25)}` : text;
  const ticks = short.includes('`') ? '``' : '`';
  const space = ticks === '``' ? ' ' : '';
  return `${ticks}${space}${short.replaceAll('|', '\\|')}${space}${ticks}`;
}
