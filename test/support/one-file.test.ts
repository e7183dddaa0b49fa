import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { node } from '../kit/processes.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { asOneFile } from './one-file.ts';

it('a program in one file does what its sources say now, and each source knows where it stands', async () => {
  const folder = temporaryFolder();
  const program = pathToFileURL(join(folder, 'program.ts'));
  writeFileSync(program, "import { word } from './word.ts'; console.log(word, import.meta.dirname);");
  const written: string[] = [];
  for (const word of ['one', 'two']) {
    writeFileSync(join(folder, 'word.ts'), `export const word: string = '${word}';`);
    const file = await asOneFile(program);
    onTestFinished(() => [file, `${file}.json`].forEach((name) => void rmSync(name, { force: true })));
    written.push(String(execFileSync(node, [file])));
  }
  expect(written).toEqual([`one ${folder}\n`, `two ${folder}\n`]);
});
