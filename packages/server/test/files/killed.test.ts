import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { folderFiles } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { artifact, completed, file } from '../../src/index.ts';
import { insideOf } from '../../src/operations/call/inside-of.ts';
import { FileSweep } from '../../src/turns/files/file-sweep.ts';
import { all, bytesAt, large, raw, send, serveFiles } from './serve-files.ts';

const hour = 3_600_000;

it.each(['client', 'agent'].flatMap((whose) => ['put', 'commit', 'named'].map((dies) => [whose, dies])))(
  'a process that dies with the file of the %s, at the %s, leaves no half: the message comes again',
  async (whose, dies) => {
    const folder = temporaryFolder();
    const script = fileURLToPath(new URL('./save-then-die.ts', import.meta.url));
    const args = ['--conditions=@batonjs/source', '--disable-warning=ExperimentalWarning', script];
    const child = spawn(process.execPath, [...args, folder, dies!, whose!], { stdio: 'inherit' });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);

    let ahead = 0;
    const files = folderFiles(`${folder}/files`);
    const { server, keys } = serveFiles(
      async function* () {
        yield artifact('a', file(large('made')));
        yield completed();
      },
      {
        store: closedAfterTest(sqliteStore(`${folder}/tasks.db`)),
        files: { store: files },
        restart: 'rerun',
        timeouts: { leaseMs: 2_000 },
        clock: { now: () => Date.now() + ahead },
      },
    );
    // No file that could be read is a part of one, whatever the task is.
    for (const key of await keys())
      expect((await all((await files.get(key))!)).flatMap((chunk) => [...chunk])).toHaveLength(100_000);
    const parts = [{ raw: raw(large('sent')), mediaType: 'image/png' }];
    const { id, history, artifacts } = await send(server, parts, { messageId: 'once' });
    expect(await bytesAt(server, history[0].parts[0].url)).toEqual(large('sent'));
    expect(await bytesAt(server, artifacts[0].parts[0].url)).toEqual(large('made'));
    // After the sweep, there is nothing but what the task names.
    const { dependencies } = insideOf(server)!;
    ahead = hour + 60_000;
    await new FileSweep(dependencies.options.files!.options, dependencies).round();
    expect((await keys()).map((key) => key.split('/').at(-2))).toEqual([id, id]);
    const unfinished = (await readdir(folder, { recursive: true })).filter((name) => name.includes('.new-'));
    expect(unfinished.length).toBeGreaterThanOrEqual(dies === 'put' ? 1 : 0);
  },
  60_000,
);
