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
    expect(await readdir(folder)).toEqual(['file', 'folder']);
  });
});
