import { spawnSync } from 'node:child_process';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFileStore } from '@batonjs/store-conformance';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { all } from '../../server/test/files/serve-files.ts';
import { folderFiles } from '../src/index.ts';

describeFileStore('folderFiles', () => {
  const folder = join(temporaryFolder(), 'files');
  return { files: folderFiles(folder), second: folderFiles(folder) };
});

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('the folder', () => {
  it('has nothing left when its files are deleted, and what a process left that died goes after a day', async () => {
    const folder = temporaryFolder();
    const files = folderFiles(folder);
    await files.put('a/b/c', bytes('x'));
    await writeFile(join(folder, '.new-left'), 'x');
    await writeFile(join(folder, '.new-old'), 'x');
    const old = new Date(Date.now() - 25 * 3_600_000);
    await utimes(join(folder, '.new-old'), old, old);
    expect((await all(files.list(''))).map(({ key }) => key)).toEqual(['a/b/c']);
    expect(await readdir(folder)).toEqual(['.new-left', 'a']);
    await files.delete('a/b/c');
    expect(await readdir(folder)).toEqual(['.new-left']);
  });

  it('rejects what it cannot store, and what it cannot read', async () => {
    const folder = temporaryFolder();
    const files = folderFiles(folder);
    await writeFile(join(folder, 'file'), 'x');
    await mkdir(join(folder, 'folder'));
    await expect(files.put('file/a', bytes('x'))).rejects.toThrow(/ENOTDIR|EEXIST/);
    await expect(files.put('folder', bytes('x'))).rejects.toThrow(/EISDIR|ENOTEMPTY|EPERM/);
    await expect(files.get('file/a')).rejects.toThrow('ENOTDIR');
    expect(await readdir(folder)).toEqual(['file', 'folder']);
  });

  const full = [
    "import { folderFiles } from '@batonjs/server-node'; import { readdirSync } from 'node:fs';",
    'const files = folderFiles(process.argv[1]); const bytes = async function* (n) { yield Buffer.alloc(n); };',
    "const put = (key, n) => files.put(key, bytes(n)).then(() => 'stored', ({ code }) => code);",
    "const done = [await put('a', 600_000), await put('b', 600_000), ...readdirSync(process.argv[1])];",
    "await files.delete('a'); console.log(JSON.stringify([...done, await put('b', 600_000)]));",
  ].join('\n');
  const mount = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" --conditions=@batonjs/source -e "$3" "$1"';
  const inSmall = (folder: string) =>
    spawnSync('unshare', ['-rm', 'sh', '-c', mount, 'sh', folder, process.execPath, full], {
      encoding: 'utf8',
    });
  const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;

  it.skipIf(!canMount)(
    'stores nothing of a file for which the disk has no room, and goes on after it',
    () => {
      const { stdout, stderr } = inSmall(temporaryFolder());
      expect(stdout.trim(), stderr).toBe('["stored","ENOSPC","a","stored"]');
    },
  );
});
