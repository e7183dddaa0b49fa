import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { documents, root, workspaces } from '../repository/source-files.ts';
import { compilerEnv } from './compiler-env.ts';
import { docstringExamples } from './docstring-examples.ts';

const execute = promisify(execFile);

/** Inside of the repository, so that imports are found; of this process, so that two runs do not meet. */
const folder = join(root, '.reports', `examples-${process.pid}`);
beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true }));

/** The text of the files below `test/<document>/`: what a document shows of them is checked where it stands. */
function wholeFiles(document: string): string[] {
  const shown = join(root, 'test', basename(document, '.md'));
  const names = globSync('**/*.ts', { cwd: shown, exclude: (name) => name.includes('node_modules') });
  return names.map((name) => readFileSync(join(shown, name), 'utf8'));
}

describe('the code of every README, page and docstring', () => {
  it('has the types it needs', { timeout: 300_000 }, async () => {
    const onPages = documents().flatMap((document) => {
      const elsewhere = wholeFiles(document);
      const shown = codeBlocks(document).filter((code) => !elsewhere.includes(code));
      const withJsx = codeBlocks(document, 'tsx').map((code) => `/** @jsxImportSource react */\n${code}`);
      return [
        ...shown.map((code) => ({ path: document, code, type: 'ts' })),
        ...withJsx.map((code) => ({ path: document, code, type: 'tsx' })),
      ];
    });
    const inDocstrings = workspaces()
      .flatMap(docstringExamples)
      .map((example) => ({ ...example, type: 'ts' }));
    expect(onPages.length).toBeGreaterThan(2);
    expect(inDocstrings.length).toBeGreaterThan(1);
    for (const [n, { path, code, type }] of [...onPages, ...inDocstrings].entries())
      writeFileSync(join(folder, `${path.replaceAll(/\W+/g, '-')}-${n + 1}.${type}`), code);
    const tsconfig = { extends: '../../tsconfig.base.json', include: ['.'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const tsc = join(root, 'node_modules/.bin/tsc');
    const options = { env: compilerEnv };
    const failure = await execute(tsc, ['-p', folder, '--singleThreaded'], options).then(
      () => '',
      ({ stdout }) => stdout,
    );
    expect(failure).toBe('');
  });
});
