import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { node, run } from '../../../test/kit/processes.ts';
import { root } from '../../../test/repository/source-files.ts';
import { choicesOn, hosts, isNewEnough, type Project, stores } from '../src/choices.ts';
import { installerOf } from '../src/installer.ts';
import { projectFiles, projectName, titleOf } from '../src/project-files.ts';
import { ask, readOptions } from '../src/read-options.ts';
import { writeProject } from '../src/write-project.ts';

const main = join(root, 'packages/create-baton/src/main.ts');

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'create-baton-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs the program in a folder, without a terminal. */
async function create(cwd: string, ...args: string[]) {
  await using command = run(node, [main, ...args], {
    cwd,
    env: { npm_config_user_agent: 'pnpm/12 node/v24' },
  });
  return { code: await command.ended, output: command.output };
}

describe('the program', () => {
  it('writes a project without a question, and says what is next', async () => {
    const folder = temporary();
    const { code, output } = await create(folder, 'my-agent', '--store', 'redis', '--yes');
    expect(output).toBe(
      [
        'Wrote my-agent: plain agent, tasks in redis.',
        '',
        ...[
          'cd my-agent',
          'pnpm install',
          'pnpm run test',
          'docker compose up -d redis',
          'pnpm run start',
        ].map((step) => `  ${step}`),
        '',
      ].join('\n'),
    );
    expect(code).toBe(0);
    expect(readdirSync(join(folder, 'my-agent'), { recursive: true }).sort()).toEqual(
      [
        ...['.dockerignore', '.gitignore', 'Dockerfile', 'README.md', 'compose.yaml', 'package.json', 'src'],
        ...['src/agent.ts', 'src/client.ts', 'src/main.ts', 'src/store.ts', 'test', 'test/agent.test.ts'],
        ...['tsconfig.json', '.env.example', 'AGENTS.md'],
        ...['.github', '.github/workflows', '.github/workflows/ci.yml', '.agents', '.agents/skills'],
        ...['write-a-baton-agent', 'operate-a-baton-agent'].flatMap((skill) => [
          `.agents/skills/${skill}`,
          `.agents/skills/${skill}/SKILL.md`,
        ]),
      ].sort(),
    );
    const again = await create(folder, 'my-agent', '--yes');
    expect(again).toEqual({
      code: 2,
      output: expect.stringContaining(
        'The folder "my-agent" is not empty: .agents, .dockerignore, .env.example and 10 more',
      ),
    });
  });

  it('asks nothing where there is no terminal, and writes nothing', async () => {
    const folder = temporary();
    const { code, output } = await create(folder, 'my-agent');
    expect(code).toBe(2);
    expect(output).toContain('There is no terminal to ask: pass --yes, or a folder, --store and --template');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the arguments', () => {
  it.each([
    [['a', 'b'], 'One folder is enough: b'],
    [['a', '--store', 'mongo'], '--store is one of sqlite, memory, redis, postgres, not "mongo"'],
    [['a', '--store', 'toString'], 'not "toString"'],
    [
      ['a', '--template', 'shop'],
      '--template is one of plain, streaming, chat, next, ai-sdk, express, not "shop"',
    ],
    [['a', '--host', 'heroku'], '--host is one of vercel, lambda, cloudflare, not "heroku"'],
    [
      ['a', '--host', 'vercel', '--store', 'sqlite'],
      '--store with --host vercel is one of postgres, redis, not "sqlite"',
    ],
    [
      ['a', '--host', 'lambda', '--store', 'memory'],
      '--store with --host lambda is one of postgres, redis, not "memory"',
    ],
    [
      ['a', '--host', 'cloudflare', '--store', 'redis'],
      '--store with --host cloudflare is one of sqlite, not "redis"',
    ],
    [
      ['a', '--host', 'lambda', '--template', 'next'],
      '--template with --host lambda is one of plain, streaming, ai-sdk, not "next"',
    ],
    [['--colour'], "Unknown option '--colour'"],
    [['', '--yes'], 'The folder has no name. "." is this one'],
  ])('%j are refused', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  it.each(['My-agent', 'a b', '-a', '.a', '_a', 'ä', 'node_modules', 'http', 'x'.repeat(215), ''])(
    'name no package %j',
    (folder) => {
      expect(() => projectName(folder)).toThrow(/cannot be the name|at most 214|has no name/);
    },
  );

  it.each(['..', '../x', '../../etc/x', '/etc/x', '/', './x', 'a/b', 'a/', '..\\x', 'C:\\x'])(
    'name no folder outside of this one: %j',
    async (folder) => {
      expect(() => projectName(folder)).toThrow('is a path');
      const here = join(temporary(), 'here');
      mkdirSync(here);
      const { code, output } = await create(here, folder, '--yes');
      expect([code, output]).toEqual([2, expect.stringContaining('is a path')]);
      expect([readdirSync(here), readdirSync(join(here, '..'))]).toEqual([[], ['here']]);
    },
  );

  it('have a name of their own in the store, so that two of them can have one database', () => {
    for (const store of Object.keys(stores) as Project['store'][])
      for (const name of ['payments', 'weather']) {
        const files = projectFiles(name, { store, template: 'plain' }, installerOf('npm/11'));
        expect(files.get('src/main.ts')).toContain(`  name: '${name}',\n`);
      }
  });

  it('name a package by its folder, and its title', () => {
    expect(['a', 'c-2'].map(projectName)).toEqual(['a', 'c-2']);
    expect(projectName('.')).toBe(basename(process.cwd()));
    expect(titleOf('my-little_agent')).toBe('My little agent');
  });

  it.each([
    ['npm/11.0.0', 'npm ci'],
    ['pnpm/12.0.0', 'npx -y pnpm install --frozen-lockfile'],
    ['yarn/4.1.0', 'corepack enable && yarn install --immutable'],
    ['bun/1.4.5', 'npx -y bun install --frozen-lockfile'],
  ])('of %s say how CI installs by the lock file', (agent, step) => {
    const files = projectFiles('a', { store: 'redis', template: 'streaming' }, installerOf(agent));
    expect(files.get('.github/workflows/ci.yml')).toContain(`run: "${step}"`);
  });

  it('decide which settings `.env.example` has', () => {
    const settings = (store: Project['store'], template: Project['template']) =>
      projectFiles('a', { store, template }, installerOf()).get('.env.example');
    expect(settings('redis', 'streaming')).toMatch(
      /\n# REDIS_URL=.*\n# MODEL_URL=.*\n# MODEL_NAME=.*\n# MODEL_API_KEY=\n$/,
    );
    expect(settings('memory', 'plain')).toMatch(/\n# PUBLIC_URL=.*\n$/);
  });

  it('give a project with API keys one of its own, which stays out of the repository', () => {
    const project = () => projectFiles('a', { store: 'sqlite', template: 'express' }, installerOf());
    const keyOf = (files: ReadonlyMap<string, string>) =>
      /^API_KEYS=me:([\da-f]{48})\nAPI_KEY=\1\n/.exec(files.get('.env')!)?.[1];
    const files = project();
    const key = keyOf(files)!;
    expect(keyOf(project())).not.toBe(key);
    expect([...files].filter(([, text]) => text.includes(key)).map(([path]) => path)).toEqual(['.env']);
    expect(files.get('.gitignore')).toContain('.env\n');
    expect(files.get('.env.example')).toContain('\nAPI_KEYS=\n');
  });

  it.each([
    [undefined, 'npm install', 'npm run'],
    ['npm/10.9.0 node/v24', 'npm install', 'npm run'],
    ['pnpm/12.0.0 npm/? node/v24', 'pnpm install', 'pnpm run'],
    ['yarn/4.1.0 npm/?', 'yarn install', 'yarn run'],
    ['bun/1.4.5', 'bun install', 'bun run'],
  ])('of %s say how to install', (agent, install, script) => {
    expect(installerOf(agent)).toMatchObject({ install, run: script });
  });
});

it.each([
  ['20.20.2', false],
  ['22.18.9', false],
  ['22.19.0', true],
  ['24.0.0', true],
] as const)('Node.js %s runs a project: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected);
});

it.each(Object.keys(hosts) as (keyof typeof hosts)[])(
  'a project for %s has the first store and agent that go with it, and says how it is deployed',
  async (host) => {
    const folder = temporary();
    const { output } = await create(folder, 'my-agent', '--host', host, '--yes');
    const [store] = Object.keys(choicesOn(host).stores);
    expect(output).toContain(`Wrote my-agent: plain agent, tasks in ${store}, on ${host}.`);
    expect(output).toMatch(/\n {2}(npx vercel deploy|sam deploy --guided|npx wrangler deploy)\n$/);
    const files = readdirSync(join(folder, 'my-agent'), { recursive: true });
    // What only a process that stays uses.
    for (const file of ['Dockerfile', 'compose.yaml', '.dockerignore', 'part.json'])
      expect(files).not.toContain(file);
  },
);

describe('the questions', () => {
  /** Asks, and answers each question with the next of the answers. */
  async function asked(options: Partial<Project>, answers: string[]) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let said = '';
    output.on('data', (bytes) => {
      said += bytes;
      const answer = answers.at(0);
      if (!/\): $/.test(said) || answer === undefined) return;
      answers.shift();
      if (answer === 'leave') input.end();
      else input.write(`${answer}\n`);
    });
    const project = await ask({ yes: false, ...options }, input, output);
    return { project, said };
  }

  it('are three, and can be answered with Enter, a number or a name', async () => {
    const folder = 'a-new-agent';
    expect((await asked({}, [folder, '', ''])).project).toEqual({
      folder,
      store: 'sqlite',
      template: 'plain',
    });
    const { project, said } = await asked({}, [folder, '3', 'streaming']);
    expect(project).toEqual({ folder, store: 'redis', template: 'streaming' });
    expect(said.match(/\): /g)).toHaveLength(3);
  });

  it('leave out what the flags say', async () => {
    const { said } = await asked({ folder: 'x', store: 'memory' }, ['2']);
    expect(said).toMatch(/^Which kind of agent\?/);
  });

  it('come again after an answer that cannot be', async () => {
    // The working folder of the tests has one of this name.
    const answers = ['packages', 'Bad', '../x', 'a-new-agent', '9', '1', 'toString', '1'];
    const { said, project } = await asked({}, answers);
    expect(project.folder).toBe('a-new-agent');
    expect(said).toContain('The folder "packages" is not empty: ');
    expect(said).toContain('"../x" is a path');
    expect(said).toContain('"Bad" cannot be the name of a package');
    expect(said).toContain('The answer is one of sqlite, memory, redis, postgres, not "9"');
    expect(said).toContain('not "toString"');
  });

  it('end when the user leaves', async () => {
    await expect(asked({}, ['leave'])).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a folder', () => {
  const files = new Map([
    ['a.txt', 'a'],
    ['src/b.txt', 'b'],
  ]);

  it('may be new, deep, or of a repository that was just made', () => {
    const folder = temporary();
    mkdirSync(join(folder, '.git'));
    writeProject(folder, files);
    expect(readdirSync(folder).sort()).toEqual(['.git', 'a.txt', 'src']);
    writeProject(join(folder, 'new/deep'), files);
    expect(readFileSync(join(folder, 'new/deep/src/b.txt'), 'utf8')).toBe('b');
  });

  it('is refused if it is a file, or not empty, and stays as it was', () => {
    const folder = temporary();
    writeFileSync(join(folder, 'file'), 'mine');
    expect(() => writeProject(join(folder, 'file'), files)).toThrow(/is a file, or below one/);
    expect(() => writeProject(folder, files)).toThrow(/is not empty: file/);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it.each([
    ['new', 'new/deep'],
    ['there', ''],
  ])('that is %s is left as it was when a file cannot be written', (_what, below) => {
    const folder = temporary();
    // A file cannot be a folder: the third one fails.
    const broken = new Map([...files, ['a.txt/c.txt', 'c']]);
    expect(() => writeProject(join(folder, below), broken)).toThrow(/ENOTDIR|EEXIST/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

const projects = [undefined, ...(Object.keys(hosts) as (keyof typeof hosts)[])].flatMap((host) => {
  const offered = choicesOn(host);
  return (Object.keys(offered.templates) as Project['template'][]).flatMap((template) =>
    (Object.keys(offered.stores) as Project['store'][]).map((store) => ({ template, store, host })),
  );
});

it.each(projects)(
  'the $template template with $store on $host leaves no placeholder, and has versions',
  (project) => {
    const files = projectFiles('my-agent', project, installerOf());
    for (const [path, text] of files)
      expect(`${path}: ${text.match(/\{\{|\}\}|undefined/)?.[0]}`).toBe(`${path}: undefined`);
    const manifest = JSON.parse(files.get('package.json')!);
    const versions: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.keys(versions)).toContain(`@batonjs/store-${project.store}`);
    for (const [name, version] of Object.entries(versions))
      expect(version).toMatch(name.startsWith('@batonjs/') ? /^workspace:\^$/ : /^\^\d+\.\d+\.\d+$/);
    // What the code of the project imports is what its manifest has.
    const code = [...files].filter(([path]) => /\.tsx?$/.test(path)).map(([, text]) => text);
    const imported = code.flatMap((text) =>
      Array.from(text.matchAll(/from '(@batonjs\/[\w-]+)/g), ([, name]) => name!),
    );
    expect([...new Set(imported)].sort()).toEqual(
      Object.keys(versions)
        // `runTurn` is for the tests that its owner writes (AGENTS.md).
        .filter((name) => name.startsWith('@b') && (name !== '@batonjs/testing' || imported.includes(name)))
        .sort(),
    );
  },
);
