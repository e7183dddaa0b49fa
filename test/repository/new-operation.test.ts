import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, sourceFiles, type Workspace, workspaces } from './source-files.ts';

const execute = promisify(execFile);

const packages = workspaces().filter(({ folder }) => folder.startsWith('packages/'));
const sourcesOf = ({ folder }: Workspace) => `${folder}/src`;
/** Only these are compiled: the others take several times as long, and know no operation by its name. */
const usesTable = (workspace: Workspace) =>
  sourceFiles(sourcesOf(workspace)).some(({ imports }) =>
    imports.some(({ specifier }) => specifier === '@batonjs/protocol/operations'),
  );

/** A copy of the sources of all packages, which import one another in the copy. */
let copy: string;

beforeAll(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), 'baton-new-operation-')));
  const link = (target: string, path: string) => {
    mkdirSync(join(copy, dirname(path)), { recursive: true });
    symlinkSync(realpathSync(target), join(copy, path));
  };
  cpSync(join(root, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'));
  cpSync(join(root, 'scripts'), join(copy, 'scripts'), { recursive: true });
  const include = ['packages/protocol/src', 'scripts/fuzz', ...packages.filter(usesTable).map(sourcesOf)];
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ extends: './tsconfig.base.json', include }));
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ type: 'module' }));
  linkModules(root, '');
  for (const { folder, manifest } of packages) {
    for (const name of ['src', 'package.json'])
      cpSync(join(root, folder, name), join(copy, folder, name), { recursive: true });
    link(join(copy, folder), `node_modules/${manifest.name}`);
    linkModules(join(root, folder), folder);
  }

  /** Links the modules of others that a folder has installed. */
  function linkModules(from: string, to: string): void {
    const modules = join(from, 'node_modules');
    const names = existsSync(modules) ? readdirSync(modules) : [];
    for (const name of names.filter((name) => !name.startsWith('.') && name !== '@batonjs'))
      link(join(modules, name), join(to, 'node_modules', name));
  }
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** The files of the copy that do not compile, each once, in order, with the whole output of the compiler. */
async function compile(): Promise<{ failing: string[]; output: string }> {
  const tsc = join(root, 'node_modules/.bin/tsc');
  const output = await execute(tsc, ['-p', copy, '--pretty', 'false'], { cwd: copy }).then(
    ({ stdout }) => stdout,
    ({ stdout }) => String(stdout),
  );
  const files = Array.from(output.matchAll(/^(\S+)\(\d+,\d+\): error/gm), ([, file]) => file!);
  return { failing: [...new Set(files)].sort(), output };
}

function edit(file: string, pattern: RegExp, replacement: string): void {
  const path = join(copy, file);
  const before = readFileSync(path, 'utf8');
  const after = before.replace(pattern, replacement);
  expect(after, `${file} has no ${pattern}`).not.toBe(before);
  writeFileSync(path, after);
}

/** The files that CONTRIBUTING names for a new operation: that of the row, and those that the compiler names. */
function placesOf(contributing: string): { table: string; others: string[] } {
  const [, section = ''] = /^An operation is one row in ([\s\S]*?)^Routes,/m.exec(contributing) ?? [];
  const [table = '', ...others] = Array.from(section.matchAll(/`([\w./-]+\.ts)`/g), ([, path]) => path!);
  return { table, others: others.sort() };
}

const { table, others } = placesOf(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'));

/** What a new operation needs in each place: it is like CancelTask. 0.3 does not have it. */
const additions: Readonly<Record<string, readonly [RegExp, string]>> = {
  'packages/protocol/src/params.ts': [/^( *)CancelTask: (.*)$/m, '$&\n$1PauseTask: $2'],
  'packages/protocol/src/schemas.ts': [/^( *)CancelTask: (.*)$/m, '$&\n$1PauseTask: $2'],
  'packages/server/src/operations/operations.ts': [/^( *)CancelTask: (.*)$/m, '$&\n$1PauseTask: $2'],
  'packages/bindings-v0-3/src/http/operations.ts': [/^( *)CancelTask: /m, '$1PauseTask: undefined,\n$&'],
  'scripts/fuzz/valid-request.ts': [/^( *)case 'CancelTask':$/m, "$&\n$1case 'PauseTask':"],
};

describe('a new operation and a new error', () => {
  it('are missed by the compiler wherever CONTRIBUTING says, and only there', {
    timeout: 120_000,
  }, async () => {
    expect(others).toEqual(Object.keys(additions).sort());
    edit(
      table,
      /^( *)CancelTask: (.*)$/m,
      `$&\n$1PauseTask: { kind: 'unary', since: '1.1', repeatable: 'always', http: ['POST /tasks/{id}:pause'] },`,
    );
    edit(
      'packages/protocol/src/errors.ts',
      /^( *)TASK_NOT_CANCELABLE: .*$/m,
      `$&\n$1TASK_NOT_PAUSABLE: { jsonRpc: -32011, http: 400, status: 'FAILED_PRECONDITION', message: 'No' },`,
    );
    const first = await compile();
    expect(first.failing).toEqual(expect.arrayContaining(others));

    for (const [file, addition] of Object.entries(additions)) edit(file, ...addition);
    const second = await compile();
    expect(second.output).toBe('');
  });

  it('are refused by A2A 0.3, which does not have them', async () => {
    const program = `
      import { httpJsonServer } from '@batonjs/bindings';
      import { v03, v03Client } from '@batonjs/bindings-v0-3';
      const outcome = (attempt) => {
        try {
          return attempt();
        } catch ({ reason, message }) {
          return { reason, message };
        }
      };
      const headers = { 'content-type': 'application/json' };
      const ask = (binding, path) =>
        outcome(() => binding.decodeCall({ method: 'POST', path, query: new URLSearchParams(), headers }).operation);
      const [, older] = v03().bindings;
      const call = { operation: 'PauseTask', params: { id: 't' } };
      console.log(
        JSON.stringify({
          newer: ask(httpJsonServer, '/tasks/t:pause'),
          older: ask(older, '/v1/tasks/t:pause'),
          known: ask(older, '/v1/tasks/t:cancel'),
          clients: v03Client().bindings.map((binding) => outcome(() => binding.encodeCall(call, 'http://agent.example'))),
        }),
      );`;
    const path = join(copy, 'refuse.ts');
    writeFileSync(path, program);
    const { stdout } = await execute(process.execPath, ['--conditions=@batonjs/source', path]);
    const refused = (reason: string) => ({ reason, message: 'A2A 0.3 has no PauseTask' });
    expect(JSON.parse(stdout)).toEqual({
      newer: 'PauseTask',
      older: refused('METHOD_NOT_FOUND'),
      known: 'CancelTask',
      clients: [refused('UNSUPPORTED_OPERATION'), refused('UNSUPPORTED_OPERATION')],
    });
  });
});
