import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { artifact, completed } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { serve } from '../kit/serve.ts';
import { reportMissing } from '../support/missing.ts';

const execute = promisify(execFile);
const page = 'docs/serving/other-languages.md';

/** What runs a block of the page, in a file of this name. */
const programs: Readonly<Record<string, { readonly file: string; readonly command: readonly string[] }>> = {
  sh: { file: 'call.sh', command: ['sh'] },
  python: { file: 'call.py', command: ['python3'] },
  go: { file: 'call.go', command: ['go', 'run'] },
};

it.each(Object.entries(programs))(
  'the page calls an agent with %s',
  { timeout: 120_000 },
  async (language, { file, command }) => {
    const [program = '', ...given] = command;
    const isThere = await execute('sh', ['-c', `command -v ${program}`]).then(
      () => true,
      () => false,
    );
    if (!isThere)
      return reportMissing(
        `No ${program} here: the ${language} of docs/serving/other-languages.md is not run.`,
      );
    const { url, close } = await listen(
      serve(async function* ({ text }) {
        yield artifact('greeting', `Hello, ${text}!`);
        yield completed();
      }),
    );
    onTestFinished(() => close());
    const folder = mkdtempSync(join(tmpdir(), 'baton-language-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const blocks = codeBlocks(page, language);
    expect(blocks.length).toBeGreaterThan(0);
    for (const code of blocks) {
      const path = join(folder, file);
      writeFileSync(path, code.replaceAll('http://127.0.0.1:4000', url.replace(/\/$/, '')));
      const { stdout } = await execute(program, [...given, path], {
        env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off' },
      });
      expect(stdout).toMatch(/Hello, (Ada|Grace)!/);
    }
  },
);
