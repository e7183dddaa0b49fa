import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { node, run } from '../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../test/kit/until.ts';
import { root } from '../../../test/repository/source-files.ts';
import { abortedAfterTest, cli } from './cli.ts';

it('dev serves the agent in a file, and again after a change, with the tasks that were there', {
  timeout: 300_000,
}, async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'agent.ts');
  const write = (word: string) =>
    writeFileSync(
      file,
      `import { artifact, completed } from '${root}/packages/server/src/index.ts';
        export default async function* () {
          yield artifact('word', '${word}');
          yield completed();
        }`,
    );
  write('first');
  // An inspector that writes down what it was started with.
  const inspector = join(folder, 'node_modules/@batonjs/inspector');
  mkdirSync(inspector, { recursive: true });
  writeFileSync(join(inspector, 'package.json'), '{"main":"index.js","type":"commonjs"}');
  writeFileSync(join(inspector, 'index.js'), '');
  const started = join(folder, 'started');
  writeFileSync(
    join(inspector, 'cli.js'),
    `require('fs').writeFileSync('${started}', process.argv[2]); setInterval(() => {}, 1000);`,
  );
  const stop = abortedAfterTest();
  const urls: string[] = [];
  let changed = Promise.withResolvers<void>();
  const serving = cli(`dev ${file} --port 0 --data ${join(folder, 'dev.db')}`, {
    signal: stop.signal,
    cwd: folder,
    env: { NODE_OPTIONS: '--conditions=@batonjs/source' },
    onWrite(stream, text) {
      if (stream !== 'stdout') return;
      urls.push(text.replace('URL: ', '').trim());
      changed.resolve();
    },
  });
  await changed.promise;
  const { id } = (await cli(`send -a ${urls[0]} -o json hello`)).json.task;
  changed = Promise.withResolvers();
  write('second');
  await changed.promise;
  expect((await cli(`send -a ${urls[1]} hello`)).stdout).toContain('Content:\n  second');
  expect((await cli(`task get -a ${urls[1]} ${id}`)).stdout).toContain('Content:\n  first');
  await eventually(() => expect(readFileSync(started, 'utf8')).toBe(urls[0]));
  stop.abort();
  await serving;
});

const loadsForEver = 'await new Promise(() => setInterval(() => {}, 1_000));';

it.each<
  [end: string, of: 'dev' | 'watch', signal: NodeJS.Signals, code: number | NodeJS.Signals, loads?: string]
>([
  ['is told to end', 'dev', 'SIGTERM', 0],
  ['is told to end while the agent starts', 'dev', 'SIGTERM', 0, loadsForEver],
  ['loses its terminal', 'dev', 'SIGHUP', 'SIGHUP'],
  ['is killed', 'dev', 'SIGKILL', 'SIGKILL'],
  ['loses the process that watches', 'watch', 'SIGKILL', 1],
])('no agent is left when dev %s', { timeout: 120_000 }, async (_end, of, signal, code, loads = '') => {
  const folder = temporaryFolder();
  const file = join(folder, 'agent.ts');
  const says = `console.log('Pids: ' + process.ppid + ' ' + process.pid);`;
  writeFileSync(file, `${says} ${loads} export default () => {};`);
  const main = join(root, 'packages/cli/src/main.ts');
  const args = ['--conditions=@batonjs/source', main, 'dev', file, '--port', '0', '--no-inspect'];
  await using dev = run(node, args, { cwd: folder });
  const [, watch, agent] = /^Pids: (\d+) (\d+)$/m.exec(await dev.until(/^Pids: .*\n/m)) ?? [];
  if (!loads) {
    const [, url = ''] = /^URL: (\S+)/m.exec(await dev.until(/^URL: \S+\n/m)) ?? [];
    expect((await fetch(`${url}/.well-known/agent-card.json`)).status).toBe(200);
  }
  process.kill(of === 'dev' ? dev.pid : Number(watch), signal);
  expect(await dev.ended).toBe(code);
  for (const pid of [watch, agent])
    await eventually(() => expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH'));
  if (of === 'watch') expect(dev.output).toContain('The process that watches the agent ended (SIGKILL)');
});

it('one Ctrl-C stops the agent as a server stops, whatever passes it on, and a second one at once', {
  timeout: 120_000,
}, async () => {
  const main = join(root, 'packages/cli/src/main.ts');
  for (const [times, code] of [
    [1, 0],
    [2, 130],
  ] as const) {
    const folder = temporaryFolder();
    const file = join(folder, 'agent.ts');
    const [mayEnd, ended] = [join(folder, 'may-end'), join(folder, 'ended')];
    // Its turn lasts until a file is there, and another one says how the process ended.
    writeFileSync(
      file,
      `import { existsSync, writeFileSync } from 'node:fs';
        import { setTimeout } from 'node:timers/promises';
        import { completed } from '${root}/packages/server/src/index.ts';
        for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => console.log('Told by ' + name));
        process.on('exit', (code) => writeFileSync('${ended}', 'with ' + code));
        export default async function* () {
          console.log('The turn runs');
          while (!existsSync('${mayEnd}')) await setTimeout(5);
          console.log('The turn is over');
          yield completed();
        }`,
    );
    const args = ['--conditions=@batonjs/source', main, 'dev', file, '--port', '0', '--no-inspect'];
    await using dev = run(node, args, { cwd: folder });
    const [, url = ''] = /^URL: (\S+)/m.exec(await dev.until(/^URL: \S+\n/m)) ?? [];
    await cli(`send -a ${url} --async hello`);
    await dev.until(/^The turn runs\n/m);
    expect(dev.output).not.toContain('There is no option');
    dev.signal('SIGINT');
    // From the terminal, and from the process that watches.
    await dev.until(/Told by[\s\S]*Told by/);
    if (times === 1) writeFileSync(mayEnd, '');
    else dev.signal('SIGINT');
    expect(await dev.ended).toBe(code);
    await eventually(() => expect(readFileSync(ended, 'utf8')).toBe(`with ${code}`));
    expect(dev.output.includes('The turn is over')).toBe(times === 1);
  }
});
