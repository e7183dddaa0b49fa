import type { Part } from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { chunksOf } from '@batonjs/protocol/json';
import { isSameText } from '@batonjs/protocol/security';
import type { Scope, TaskStore } from '@batonjs/store';
import type { FileRange } from '@batonjs/store/files';
import { fromBase64Url, sha256Stream, toBase64Url } from '#bytes';
import type { FileContent } from '../../agent/builders.ts';
import type { Clock } from '../../base/timing/clock.ts';
import { toToken, valuesIn } from '../../base/token.ts';
import { type CallbackKeys, callbackKeys } from '../outside/callback-keys.ts';
import { type CompleteFiles, completeFiles, type FileOptions } from './file-options.ts';
import { mapParts, type StoredFile, storedIn, storedPart, urlOf } from './stored-part.ts';

/** Loads what fetches a file elsewhere, if its address may be called. */
export type FetchFile = () => Promise<{ fetchFile(url: string): Promise<{ readonly bytes: Uint8Array }> }>;

interface Sources {
  readonly publicUrl: string | undefined;
  readonly queue: string;
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly fetchFile: FetchFile;
}

/** The content of a file, and what was thrown while it was read. */
interface Source {
  fault?: { readonly error: unknown };
}

/** The files of one agent: their bytes lie in a file store, and its logs name them. */
export class ServerFiles {
  readonly options: CompleteFiles;
  readonly #sources: Sources;
  readonly #keys: CallbackKeys;
  readonly #prefix: string;
  #sign: (text: string) => string = () => '';

  /** Throws `TypeError` for options that cannot work. */
  constructor(options: FileOptions, sources: Sources) {
    this.options = completeFiles(options, sources.publicUrl);
    this.#sources = sources;
    this.#keys = callbackKeys(sources.store, sources.clock);
    this.#prefix = `${this.options.url}/files/`;
  }

  /** To be awaited before `shown`: has the key that signs links. */
  async ready(): Promise<this> {
    this.#sign = await this.#keys.signer();
    return this;
  }

  keyOf = (scope: Scope, taskId: string, id: string): string =>
    prefixOfTask(this.#sources.queue, scope, taskId) + id;

  /**
   * Stores a file. It is durable when this resolves. Rejects with what its source throws, `PAYLOAD_TOO_LARGE`, or
   * `UNAVAILABLE`.
   */
  async save(
    scope: Scope,
    taskId: string,
    content: FileContent,
    { id = crypto.randomUUID() as string, maxBytes = Number.POSITIVE_INFINITY, length = -1 } = {},
  ): Promise<StoredFile> {
    const hash = sha256Stream();
    let size = 0;
    const source: Source = {};
    async function* counted(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of chunksIn(content)) {
          size += chunk.byteLength;
          if (size > maxBytes) throw tooLarge(maxBytes);
          hash.update(chunk);
          yield chunk;
        }
        if (length >= 0 && length !== size)
          throw new A2AError('PARSE_ERROR', 'The body is not as long as it says');
      } catch (error) {
        source.fault = { error };
        throw error;
      }
    }
    await this.put(this.keyOf(scope, taskId, id), counted(), source);
    return { taskId, id, size, sha256: hash.hex() };
  }

  /** Stores bytes of which nothing has to be known. */
  put = (key: string, bytes: AsyncIterable<Uint8Array>, source?: Source): Promise<void> =>
    this.#tried(() => this.options.store.put(key, bytes), source);

  /** Stores a file under another key, too, unless it is there. Rejects with `INVALID_PARAMS` if it is gone. */
  async copy(from: string, to: string): Promise<void> {
    const { store } = this.options;
    const isCopied = await this.#tried(async () => {
      if (await store.copy?.(from, to)) return true;
      const bytes = store.copy ? undefined : await store.get(from);
      if (bytes) await store.put(to, bytes);
      return (bytes ?? (await store.get(to, { start: 0, end: 0 }))) !== undefined;
    });
    if (!isCopied)
      throw invalidParams([{ field: 'message.parts', description: 'names a file that is gone' }]);
  }

  /** Fetches a file elsewhere. */
  fetch = async (url: string): Promise<Uint8Array> =>
    (await (await this.#sources.fetchFile()).fetchFile(url)).bytes;

  open = (key: string, range?: FileRange): Promise<AsyncIterable<Uint8Array> | undefined> =>
    this.#tried(() => this.options.store.get(key, range));

  reach = (): Promise<unknown> =>
    this.open(`${prefixOfQueue(this.#sources.queue)}mark/none`, { start: 0, end: 0 });

  /** Copies all files of a task for a fork of it. */
  async fork(scope: Scope, from: string, to: string): Promise<void> {
    const prefix = this.keyOf(scope, from, '');
    for await (const { key } of this.options.store.list(prefix))
      await this.copy(key, this.keyOf(scope, to, key.slice(prefix.length)));
  }

  /**
   * Deletes all files of a task; without it, the uploads of the scope; with `ids`, those whose ids begin so. Resolves to how
   * many: `dryRun` only counts.
   */
  async forget(scope: Scope, taskId = UPLOADS, dryRun = false, ids = ''): Promise<number> {
    const { store } = this.options;
    let count = 0;
    for await (const { key } of store.list(this.keyOf(scope, taskId, ids))) {
      count += 1;
      if (!dryRun) await store.delete(key);
    }
    return count;
  }

  /**
   * What everyone but the log sees of a message, a result, an event or a list: links in place of the files that logs of the
   * scope name. A link stays the same for a while, so that who reads again knows the file.
   */
  shown<T>(value: T, scope: Scope): T {
    const { linkMs } = this.options;
    const expiresAt = (Math.floor(this.#sources.clock.now() / linkMs) + 2) * linkMs;
    return mapParts(value, (part, taskId) => {
      const file = storedIn(part);
      return file ? this.#linked(scope, taskId ? { ...file, taskId } : file, part, expiresAt) : part;
    });
  }

  /** The part for a file that was stored a moment ago. */
  partFor(scope: Scope, file: StoredFile, about: Partial<Part>): Part {
    return this.#linked(scope, file, about, this.#sources.clock.now() + this.options.uploadMs);
  }

  /** The file of a link of this server; undefined for any other text, and for one that has expired. */
  async linked(token: string): Promise<LinkedFile | undefined> {
    const file = await this.#signed(token);
    return file && file[5] > this.#sources.clock.now() ? file : undefined;
  }

  /** The file that a client names by a link; undefined for the address of another server. Rejects with `INVALID_PARAMS`. */
  async named(part: Part): Promise<LinkedFile | undefined> {
    const token = this.#tokenIn(part);
    if (token === undefined && !storedIn(part)) return undefined;
    const file = token === undefined ? undefined : await this.linked(token);
    if (file) return file;
    throw invalidParams([
      { field: 'message.parts', description: 'names no file of this agent, or no longer' },
    ]);
  }

  /** The file that an agent names by a link, which may be an old one of a step: it reads all files of its scope. */
  async own(part: Part, scope: Scope): Promise<LinkedFile | undefined> {
    // A text of a caller would say here how large a file is, and what it is called.
    if (storedIn(part)) throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent names a file by no link');
    return this.#in(scope, await this.#signed(this.#tokenIn(part) ?? ''));
  }

  /** The same without asking for keys: undefined also for a link that another key than the latest signed. */
  known(part: Part, scope: Scope): LinkedFile | undefined {
    const { file, signature = '' } = readToken(this.#tokenIn(part) ?? '') ?? {};
    const isSigned = file && isSameText(this.#sign(signedText(this.#sources.queue, file)), signature);
    return isSigned ? this.#in(scope, file) : undefined;
  }

  #in(scope: Scope, file: LinkedFile | undefined): LinkedFile | undefined {
    return file?.[0].startsWith(prefixOfScope(this.#sources.queue, scope)) ? file : undefined;
  }

  async #signed(token: string): Promise<LinkedFile | undefined> {
    const { file, signature = '' } = readToken(token) ?? {};
    if (!file) return undefined;
    return (await this.#keys.isSigned(signedText(this.#sources.queue, file), signature)) ? file : undefined;
  }

  #tokenIn(part: Part): string | undefined {
    const url = urlOf(part);
    return url?.startsWith(this.#prefix) ? url.slice(this.#prefix.length) : undefined;
  }

  #linked(scope: Scope, file: StoredFile, part: Partial<Part>, expiresAt: number): Part {
    const { size, sha256, taskId, id } = file;
    const { mediaType = '', filename = '' } = part;
    const key = this.keyOf(scope, taskId, id);
    const link: LinkedFile = [key, size, sha256, mediaType, filename, expiresAt];
    const token = toToken(...link, this.#sign(signedText(this.#sources.queue, link)));
    return storedPart(file, part, this.#prefix + token);
  }

  /** The error of a source is its own. Of one of the store, clients and agents learn that it can be tried again. */
  async #tried<T>(work: () => Promise<T>, source: Source = {}): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (source.fault) throw source.fault.error;
      throw new A2AError('UNAVAILABLE', 'Files cannot be reached now', { retryAfter: 1, cause });
    }
  }
}

/** The error for a file beyond the limit. */
export const tooLarge = (maxBytes: number) =>
  new A2AError('PAYLOAD_TOO_LARGE', `The file is larger than ${maxBytes} bytes`);

/** The chunks of a file's content. */
function chunksIn(content: FileContent): AsyncIterable<Uint8Array> {
  if (content instanceof Blob) return chunksOf(content.stream());
  if ('getReader' in content) return chunksOf(content);
  return content instanceof Uint8Array ? once(content) : content;
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The place of files that no message has named yet. No task is called so: the words of others have another form. */
export const UPLOADS = 'uploads';

/** A name as one part of a key. Plain ids stay as they are; no other name reads as one. */
const word = (name: string): string => (/^[\da-f-]{1,100}$/.test(name) ? name : `x.${toBase64Url(name)}`);

/** The beginning of the keys of all files of an agent. */
export const prefixOfQueue = (queue: string): string => `${word(queue)}/`;

/** The beginning of the keys of all files of a scope, and of no other: it says how many parts the scope takes. */
function prefixOfScope(queue: string, scope: Scope): string {
  const parts = toBase64Url(scope).match(/.{1,190}/g) ?? [];
  return `${prefixOfQueue(queue)}${parts.length}.${parts.join('/')}/`;
}

export const prefixOfTask = (queue: string, scope: Scope, taskId: string): string =>
  `${prefixOfScope(queue, scope)}${taskId === UPLOADS ? UPLOADS : word(taskId)}/`;

/** Whose file a key names; undefined for a key that is none of these. */
export function ownerOf(key: string): { readonly scope: Scope; readonly taskId: string } | undefined {
  const [, count, rest = ''] = /^[^/]+\/(\d+)\.(.+)\/[^/]+$/.exec(key) ?? [];
  const parts = rest.split('/');
  const last = parts.pop() ?? '';
  if (parts.length !== Number(count)) return undefined;
  const taskId = last.startsWith('x.') ? fromBase64Url(last.slice(2)) : last;
  return { scope: fromBase64Url(parts.join('')) as Scope, taskId };
}

/** What a link says of a file. Who has the link may read it. `expiresAt`: milliseconds since 1970. */
export type LinkedFile = readonly [
  key: string,
  size: number,
  sha256: string,
  mediaType: string,
  filename: string,
  expiresAt: number,
];

/** The text that is signed. It has more members than the text of a callback. */
export const signedText = (queue: string, file: LinkedFile): string =>
  JSON.stringify(['file', queue, ...file]);

/** The content of a token, JSON of a file and its signature, whether that is right or not; undefined for another text. */
export function readToken(token: string) {
  const values = valuesIn(token);
  const [key, size, sha256, mediaType, filename, expiresAt, signature] = values as [...LinkedFile, unknown];
  const file: LinkedFile = [`${key}`, size, sha256, mediaType, filename, expiresAt];
  // Other texts may read as the same one.
  if (!isSameText(toToken(...values), token) || typeof signature !== 'string') return undefined;
  return { file, signature };
}
