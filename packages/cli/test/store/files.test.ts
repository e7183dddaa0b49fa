import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { artifact, completed, createAgentServer, file } from '@batonjs/server';
import { folderFiles } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { cli } from '../cli.ts';

/** A folder with `tasks.db`, and with `files` of two callers: one that each sent, and one that each got. */
async function filled() {
  const at = temporaryFolder();
  const store = sqliteStore(join(at, 'tasks.db'));
  const server = createAgentServer({
    card: { name: 'Files', description: 'Makes files', defaultInputModes: ['*/*'] },
    store,
    agent: async function* () {
      yield artifact('made', file(Buffer.alloc(100_000, 'made')));
      yield completed();
    },
    authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? '' }),
    publicUrl: 'http://localhost/agent',
    files: { store: folderFiles(join(at, 'files')) },
  });
  const ids: string[] = [];
  for (const caller of ['ana', 'bob']) {
    const parts = [{ raw: Buffer.alloc(100_000, caller).toString('base64') }];
    const { task } = await rpc(server, 'SendMessage', { message: say(parts) }, { 'x-caller': caller });
    ids.push(task.id);
  }
  await server.close();
  await store.close();
  return {
    at,
    ids,
    filesOf: (id: string, of = 'files') => filesIn(join(at, of)).filter((path) => path.includes(id)),
  };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

describe('the files of a store', () => {
  it.each([
    ['copied', ['store copy --from tasks.db --to new.db --files files --files-to new']],
    [
      'exported and imported',
      [
        'store export --store tasks.db all.jsonl --files files',
        'store import --store new.db all.jsonl --files new',
      ],
    ],
  ])('are %s with it, and its hashes are right', async (_, commands) => {
    const { at, ids, filesOf } = await filled();
    for (const command of commands) expect(await cli(command, { cwd: at })).toMatchObject({ code: 0 });
    expect(await cli('store verify --store new.db --files new', { cwd: at })).toMatchObject({
      code: 0,
      stderr: '',
    });
    for (const id of ids) expect(filesOf(id, 'new')).toHaveLength(2);
    // The mark by which a sweep knows that they belong together came along, if there was one.
    expect(filesIn(join(at, 'new')).length).toBe(filesIn(join(at, 'files')).length);
  });

  it('are exported for the callers that are named', async () => {
    const { at, ids, filesOf } = await filled();
    await cli('store export --store tasks.db ana.jsonl --files files --caller ana', { cwd: at });
    expect(ids.map((id) => filesOf(id, 'ana.jsonl.files').length)).toEqual([2, 0]);
  });

  it('are damaged where one is missing, shorter or another one, and verify names the tasks', async () => {
    const { at, ids, filesOf } = await filled();
    const verify = () => cli('store verify --store tasks.db --files files', { cwd: at });
    expect(await verify()).toMatchObject({ code: 0, stderr: '' });
    const [ana, bob] = ids.map((id) => filesOf(id)[0]!);
    for (const bytes of [Buffer.alloc(100_000, 'x'), Buffer.alloc(99_999, 'made')]) {
      writeFileSync(ana!, bytes);
      expect((await verify()).stderr).toMatch(new RegExp(`${ids[0]}: its file [\\w-]+ has other bytes`));
    }
    rmSync(bob!);
    const { code, stderr, stdout } = await verify();
    expect([code, /Damaged: (\d)/.exec(stdout)?.[1]]).toEqual([1, '2']);
    expect(stderr).toMatch(new RegExp(`${ids[1]}: its file [\\w-]+ is missing`));
    // Without the folder, only the store is read.
    expect(await cli('store verify --store tasks.db', { cwd: at })).toMatchObject({ code: 0 });
  });

  it('are copied from one folder to another one, or not at all', async () => {
    const { at } = await filled();
    for (const flag of ['--files files', '--files-to new'])
      expect(await cli(`store copy --from tasks.db --to new.db ${flag}`, { cwd: at })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--files and --files-to are given together'),
      });
  });
});
