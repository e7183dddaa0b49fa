/**
 * `pnpm test:load --times 10 --busy 8`: runs the tests that go by time (`load/timing-sensitive.ts`) so often while so many
 * processes compete for the machine. `--all` runs every test. Other arguments go to vitest in place of those files:
 * `pnpm test:load packages/store-redis`. Each run has an order of its own: `--all --busy 0` tries that many orders. Shows
 * what failed in which run, and the seed of its order. The last line says how many runs were green; the exit code is 1
 * unless all were.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { timingSensitive } from './load/timing-sensitive.ts';

const { times, busy, chosen } = readArguments(process.argv.slice(2));
const seconds = (since: number) => `${Math.round((performance.now() - since) / 1_000)} s`;

const load: ChildProcess[] = Array.from({ length: busy }, () =>
  fork(fileURLToPath(new URL('./load/busy.ts', import.meta.url))),
);
const began = performance.now();
let green = 0;
try {
  for (let round = 1; round <= times; round++) {
    const start = performance.now();
    const { code, seed, failures } = await runTests();
    if (code === 0) green++;
    const result = code === 0 ? 'green' : `failed (${code})`;
    console.log(
      `Run ${round} of ${times}: ${result}, ${seconds(start)}${seed && `, --sequence.seed=${seed}`}`,
    );
    for (const failure of failures) console.log(`  ${failure}`);
  }
} finally {
  for (const child of load) child.kill('SIGKILL');
}
console.log(`${green} of ${times} runs were green beside ${busy} busy processes, ${seconds(began)}`);
process.exitCode = green === times ? 0 : 1;

/** One run of vitest. Its output is shown only if it failed. */
async function runTests() {
  const child = spawn('vitest', ['run', '--no-color', ...chosen], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [exit, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  const code = exit ?? signal ?? 1;
  if (code !== 0) process.stdout.write(output);
  const [, seed = ''] = /--sequence\.seed=(\d+)/.exec(output) ?? [];
  const failures = output.split('\n').filter((line) => /^ *(FAIL|Error:) /.test(line));
  return { code, seed, failures: [...new Set(failures.map((line) => line.trim()))] };
}

/** `--times` and `--busy`, and what vitest is told to run. */
function readArguments(given: readonly string[]) {
  const numbers = { times: 10, busy: 8 };
  const rest: string[] = [];
  for (let index = 0; index < given.length; index++) {
    const [name = '', inline] = given[index]!.split('=', 2);
    if (name !== '--times' && name !== '--busy') {
      rest.push(given[index]!);
      continue;
    }
    const value = Number(inline ?? given[++index]);
    if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} takes a whole number`);
    numbers[name === '--times' ? 'times' : 'busy'] = value;
  }
  const others = rest.filter((arg) => arg !== '--' && arg !== '--all');
  const isDefault = others.length === 0 && !rest.includes('--all');
  return { ...numbers, chosen: isDefault ? timingSensitive : others };
}
