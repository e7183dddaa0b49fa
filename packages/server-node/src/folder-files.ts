import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, open, opendir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileRange, type FileStore, keyOfFile, type ListedFile } from '@batonjs/store/files';

/** Files that are being written begin so: no key does. */
const unfinished = '.new-';
/** How much is read at once: four times what Node.js reads, for a quarter of the rounds. */
const chunkBytes = 262_144;
/** How old one is at least that a process has left behind, in milliseconds. */
const leftMs = 24 * 3_600_000;

/**
 * Keeps the bytes of files in a folder of this machine, which is made if it is not there. Several processes may share it. A
 * file is there as a whole, and stays after a power failure, once it is stored.
 */
export function folderFiles(folder: string): FileStore {
  const pathOf = (key: string): string => {
    if (!keyOfFile.test(key)) throw new TypeError(`'${key}' is no key of a file`);
    return join(folder, ...key.split('/'));
  };
  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await mkdir(folder, { recursive: true });
      const written = join(folder, `${unfinished}${crypto.randomUUID()}`);
      try {
        await pipeline(bytes, createWriteStream(written, { flags: 'wx', flush: true }));
        await settle(folder, path, () => rename(written, path));
      } catch (error) {
        await rm(written, { force: true });
        throw error;
      }
    },
    async get(key, range) {
      const path = pathOf(key);
      return (await found(stat(path))) && read(path, range);
    },
    async delete(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      // Only empty folders can be removed.
      for (let at = dirname(path); relative(folder, at) !== ''; at = dirname(at))
        if (await rmdir(at).catch(() => true)) return;
    },
    list: (prefix) => filesBelow(folder, prefix),
    async copy(from, to) {
      const [source, path] = [pathOf(from), pathOf(to)];
      if (!(await found(stat(source)))) return false;
      // The bytes of a key never change: a file that is there is the same.
      await settle(folder, path, () =>
        link(source, path).catch((error) => {
          if (error.code !== 'EEXIST') throw error;
        }),
      );
      return true;
    },
  };
}

/** Gives a file its name, and makes durable that it and the folders above have theirs. */
async function settle(folder: string, path: string, name: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await mkdir(dirname(path), { recursive: true });
      await name();
      break;
    } catch (error) {
      // Another process may remove the folder meanwhile, which was empty.
      if (!isMissing(error) || tries === 5) throw error;
    }
  }
  // Windows syncs no folders: it names files durably by itself.
  if (process.platform === 'win32') return;
  for (let at = path; relative(folder, at) !== ''; ) {
    at = dirname(at);
    const handle = await found(open(at));
    await handle?.sync();
    await handle?.close();
  }
}

async function* read(path: string, range: FileRange | undefined): AsyncGenerator<Uint8Array> {
  const { start = 0, end = Number.POSITIVE_INFINITY } = range ?? {};
  if (end > start) yield* createReadStream(path, { start, end: end - 1, highWaterMark: chunkBytes });
}

async function* filesBelow(folder: string, prefix: string): AsyncGenerator<ListedFile> {
  for (const name of (await found(readdir(folder))) ?? []) {
    if (!name.startsWith(unfinished)) continue;
    // What a process left behind that died while it wrote.
    const info = await found(stat(join(folder, name)));
    if (info && info.mtimeMs < Date.now() - leftMs) await rm(join(folder, name), { force: true });
  }
  const at = join(folder, prefix.slice(0, prefix.lastIndexOf('/') + 1));
  for await (const entry of (await found(opendir(at, { recursive: true }))) ?? []) {
    const path = join(entry.parentPath, entry.name);
    const key = relative(folder, path).replaceAll(sep, '/');
    if (!entry.isFile() || !key.startsWith(prefix) || key.startsWith(unfinished)) continue;
    const info = await found(stat(path));
    if (info) yield { key, size: info.size, storedAt: info.ctimeMs };
  }
}

const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT';

/** Undefined if there is no such file. */
const found = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
