/** Bytes from `start` up to, and without, `end`. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/** A file as a list names it. */
export interface ListedFile {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** When it was stored: milliseconds since 1970, by the clock of the store. */
  readonly storedAt: number;
}

/**
 * Keeps the bytes of files, by key: at most 1,024 characters of letters, digits, `-`, `_`, `.` and `/`, in parts of 1 to 200
 * characters that do not begin with a dot. A key is written again only with the same bytes. Every method may reject: then
 * the file is not there for its caller, who tries again or says so.
 */
export interface FileStore {
  /**
   * Stores all bytes, durable when it resolves. Until then, and if it or the source fails, readers see what was there
   * before: never a part of a file.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** The bytes, read when they are asked for; of a range, if it lies in the file. Undefined if there is no such file. */
  get(key: string, range?: FileRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Resolves also if there is no such file. */
  delete(key: string): Promise<void>;
  /** All files whose keys begin with this, in any order; files that are written or deleted meanwhile may be in it or not. */
  list(prefix: string): AsyncIterable<ListedFile>;
  /**
   * Stores the bytes of one key under another, without reading them. Resolves to whether there was such a file. A store that
   * cannot do so leaves it out: the bytes are read and put.
   */
  copy?(from: string, to: string): Promise<boolean>;
}

/** The keys that a `FileStore` takes. */
export const keyOfFile: RegExp = /^(?=.{1,1024}$)[\w-][\w.-]{0,199}(\/[\w-][\w.-]{0,199})*$/;
