import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../repository/source-files.ts';
import { ONE_PROCESS, PATIENCE } from './sharing.ts';

const examples = join(import.meta.dirname, 'examples');
const example = readFileSync(join(examples, '1-leaves.ts'), 'utf8').split('\n');

/** What vitest says of the examples, all of which run in one process, one after the other. */
const output = await new Promise<string>((resolve) => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--config', join(examples, 'vitest.config.ts'), '--root', root, '--no-color'];
  const env = { ...process.env, [ONE_PROCESS]: undefined, [PATIENCE]: '300' };
  execFile(process.execPath, args, { env }, (_, stdout, stderr) => resolve(stdout + stderr));
});

/** The reports of one example: each begins with its name, and has the error and the place. */
const reportsOf = (example: string): string[] =>
  output.split(/^ FAIL /m).filter((report) => report.split('\n', 1)[0]!.includes(example));

describe('A file fails that leaves behind', () => {
  it.each([
    ['a server', 'a server that listens on a port open', 'server.listen('],
    ['a connection', 'a connection open', 'connect('],
    ['a timer', 'a timer open', 'setTimeout('],
    ['an interval that keeps no process alive', 'a timer open', 'setInterval('],
    ['a child process', 'a child process open', 'spawn('],
    ['a spy', 'a spy on method', 'vi.spyOn('],
  ])('%s, and is told where', (_, what, call) => {
    const line = example.findLastIndex((text) => text.includes(call)) + 1;
    const report = reportsOf('1-leaves.ts').find((text) => text.includes(`1-leaves.ts:${line}:`));
    expect(report).toContain(`leaves ${what}`);
  });

  it.each([
    'fetch',
    'leftByExample',
    'performance.now',
    'process.env.LEFT_BY_EXAMPLE',
    'process.cwd()',
    "process.on('SIGHUP')",
  ])('a changed %s', (name) => {
    const [, changed = ''] = /leaves changed: (.*)\.$/m.exec(reportsOf('1-leaves.ts').join('\n')) ?? [];
    expect(changed.split(', ')).toContain(name);
  });

  it('a server of agents: its loops go on', () => {
    expect(reportsOf('1-leaves.ts').join('\n')).toMatch(
      /leaves a timer open.*\n.*timing\.ts[\s\S]*claimer\.ts/,
    );
  });

  it('fake timers, where it has a process of its own', () => {
    expect(reportsOf('4-alone.ts').join()).toContain('leaves fake timers');
  });
});

it.each(['a spy on a clock', 'fake timers', 'a stub of a global', 'a stub of the environment'])(
  '%s is refused where files share a process',
  (title) => {
    expect(reportsOf(`2-refused.ts > ${title}`).join()).toContain(
      'changes the process, which other files share',
    );
  },
);

it('the file after it passes: it finds everything as it was, and what ends a moment later is waited for', () => {
  expect(reportsOf('3-innocent.ts')).toEqual([]);
  expect(output).toMatch(/Test Files +3 failed \| 1 passed/);
});
