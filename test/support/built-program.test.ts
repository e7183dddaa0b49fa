import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { node } from '../kit/processes.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { root } from '../repository/source-files.ts';
import { builtOnce } from './built-once.ts';
import { builtProgram } from './built-program.ts';

it('each source of a built program knows where it stands', async () => {
  const program = await builtProgram(new URL('./where-it-stands.ts', import.meta.url));
  expect(program).not.toContain(import.meta.dirname);
  expect(JSON.parse(String(execFileSync(node, [program])))).toEqual([import.meta.dirname, root]);
});

it('a program that is not listed is refused', async () => {
  await expect(builtProgram(new URL('./certificate.ts', import.meta.url))).rejects.toThrow(
    'test/support/certificate.ts is not among the programs of test/support/built-program.ts',
  );
});

it('what is built is built once by all who ask, again once a source was written, and again after a failure', async () => {
  const folder = temporaryFolder();
  const source = join(folder, 'word.ts');
  const name = `test-${process.pid}`;
  onTestFinished(() => rmSync(join(root, 'node_modules/.cache', name), { recursive: true }));
  let builds = 0;
  const build = async (outDir: string) => {
    builds += 1;
    if (readFileSync(source, 'utf8') === 'wrong') throw new Error('The source is wrong');
    writeFileSync(join(outDir, 'word'), readFileSync(source));
  };
  const ask = () => builtOnce(name, [relative(root, source)], build);
  const wordIn = (place: string) => readFileSync(join(place, 'word'), 'utf8');
  const write = (word: string) => writeFileSync(source, word);

  write('one');
  const places = await Promise.all([ask(), ask(), ask()]);
  expect([new Set(places).size, wordIn(places[0]), builds]).toEqual([1, 'one', 1]);
  write('wrong');
  await expect(ask()).rejects.toThrow('The source is wrong');
  await expect(ask()).rejects.toThrow('The source is wrong');
  write('two');
  expect(wordIn(await ask())).toBe('two');
  expect(builds).toBe(4);

  // A builder that was killed left its file.
  write('three!');
  const dead = execFileSync(node, ['-p', 'process.pid'], { encoding: 'utf8' });
  const place = await builtOnce(`${name}/of-none`, [relative(root, source)], async () => {});
  writeFileSync(join(dirname(dirname(place)), `${place.split('/').at(-1)}.builder`), dead);
  expect(wordIn(await ask())).toBe('three!');
});
