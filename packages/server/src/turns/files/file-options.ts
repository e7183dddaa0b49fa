import { withDefaults } from '@batonjs/protocol/options';
import type { FileStore } from '@batonjs/store/files';
import { mustBePositive } from '../../base/timeouts.ts';

/** Where the bytes of files lie, apart from the tasks. */
export const fileOptions = {
  /** The store: `folderFiles(path)` or `s3Files(…)` of `@batonjs/server-node`, or another one. */
  store: undefined as FileStore | undefined,
  /**
   * The absolute URL of the server, below which `/files/…` is served. Default: `publicUrl`. A worker, which has none, needs
   * it.
   */
  url: undefined as string | undefined,
  /** Files of more bytes are kept apart from the task; smaller ones stay in it as `raw`. Default 65,536. */
  fromBytes: 65_536,
  /** Bytes of one upload. Default 1 GiB. */
  uploadBytes: 1024 ** 3,
  /** Bytes that the unfinished uploads of one caller may have, by the lengths they begin with. Default: any number. */
  unfinishedBytes: Number.POSITIVE_INFINITY,
  /** How long an upload is kept that no message names, in milliseconds. Default 24 hours. */
  uploadMs: 24 * 3_600_000,
  /**
   * How long a link to a file works at least, in milliseconds, and at most twice as long: links that are read within this
   * time are the same. Default 1 hour.
   */
  linkMs: 3_600_000,
  /** How often files without a task are deleted, by one process at a time, in milliseconds. Default 1 hour. */
  sweepMs: 3_600_000,
};

export type FileOptions = Readonly<Partial<typeof fileOptions>> & { readonly store: FileStore };

/** The options, completed. `url` has no slash at its end. */
export type CompleteFiles = Required<FileOptions> & { readonly url: string };

/** Throws `TypeError` for options that cannot work. */
export function completeFiles(given: FileOptions, publicUrl: string | undefined): CompleteFiles {
  const { store, url = publicUrl, ...numbers } = withDefaults(fileOptions, given);
  if (typeof store?.put !== 'function')
    throw new TypeError("`files.store` must be a file store, such as folderFiles('files')");
  if (url === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new TypeError('`files` needs `publicUrl`, or `files.url` in a worker: clients fetch files there');
  mustBePositive('files', numbers);
  return { ...numbers, store, url: url.replace(/(?<!\/)\/+$/, '') };
}
