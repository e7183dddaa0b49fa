import { fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { timingSensitive } from '../../scripts/load/timing-sensitive.ts';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { root } from '../repository/source-files.ts';

/** Runs the command on a test of its own, in a folder where it finds vitest. */
async function runLoad(test: string, ...options: string[]) {
  const folder = mkdtempSync(join(root, 'node_modules', '.load-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.test.js'), `import { expect, it } from 'vitest';\n${test}`);
  writeFileSync(join(folder, 'vitest.config.js'), `export default { test: { exclude: [] } }`);
  await using command = run(node, ['scripts/test-load.ts', ...options, '--root', folder]);
  return { code: await command.ended, output: command.output };
}

it('a run under load says how many runs were green', async () => {
  const times = String(repetitions(1, 2));
  const { code, output } = await runLoad(`it('works', () => {})`, '--times', times, '--busy=1');
  expect(output).toMatch(
    new RegExp(`Run ${times} of ${times}: green, .*\\n${times} of ${times} runs were green beside 1 busy `),
  );
  expect(code).toBe(0);
});

it('a run under load fails with the tests that failed', async () => {
  const { code, output } = await runLoad(
    `it('counts', () => expect(1).toBe(2))`,
    '--times',
    '1',
    '--busy',
    '1',
  );
  expect(output).toMatch(/Run 1 of 1: failed \(1\), .*\n {2}FAIL {2}a\.test\.js > counts\n/);
  expect(output).toContain('0 of 1 runs were green');
  expect(code).toBe(1);
});

it.each(timingSensitive)('the tests that go by time are there: %s', (path) => {
  const files = globSync('{packages/*,.}/test/**/*.test.ts', { cwd: root });
  expect(files.filter((file) => file.includes(path))).not.toEqual([]);
});

it('a busy process ends with the one that started it', async () => {
  const busy = fork(join(root, 'scripts/load/busy.ts'));
  await once(busy, 'spawn');
  busy.disconnect();
  expect(await once(busy, 'exit')).toEqual([0, null]);
});

it.each([['--times', 'x'], ['--busy', '-1'], ['--times']])(
  'a run under load refuses %s %s',
  async (...options) => {
    await using command = run(node, ['scripts/test-load.ts', ...options]);
    expect(await command.ended).toBe(1);
    expect(command.output).toContain(`${options[0]} takes a whole number`);
  },
);
