import type { Message, Part } from '@batonjs/protocol';
import type { Scope } from '@batonjs/store';
import { concat, fromBase64, sha256 } from '#bytes';
import type { FileContent, PartOptions, TaskFile } from '../../agent/builders.ts';
import { type LinkedFile, once, type ServerFiles } from './server-files.ts';
import { mapParts, rawOf, storedPart, urlOf } from './stored-part.ts';

/** A message or an update as the log has it, and what stores its files, to be called before the log is written. */
interface Apart<T> {
  readonly value: T;
  save(): Promise<void>;
}

type OfTask = { readonly scope: Scope; readonly taskId: string };
type LinkOf = (part: Part) => LinkedFile | undefined | Promise<LinkedFile | undefined>;

/** The files of one task: its log names them, and they lie below its key. */
export class TaskFiles {
  readonly #files: ServerFiles;
  readonly #scope: Scope;
  readonly #taskId: string;

  constructor(files: ServerFiles, { scope, taskId }: OfTask) {
    this.#files = files;
    this.#scope = scope;
    this.#taskId = taskId;
  }

  /** Stores a file of the agent, and resolves to the part for it. */
  async save(content: FileContent, about: PartOptions = {}): Promise<Part> {
    const file = await this.#files.save(this.#scope, this.#taskId, content);
    const mediaType = about.mediaType ?? ((content instanceof Blob && content.type) || undefined);
    await this.#files.ready();
    return this.#files.partFor(this.#scope, file, { ...about, ...(mediaType && { mediaType }) });
  }

  /** The update or message of the agent with its large files stored. */
  async kept<T>(update: T): Promise<T> {
    const { value, save } = await this.#apart(update, (part) => this.#files.own(part, this.#scope));
    await save();
    return value;
  }

  /** The same message gives the same parts. Rejects with `INVALID_PARAMS` for a link that does not work. */
  received = (message: Message): Promise<Apart<Message>> =>
    this.#apart(message, (part) => this.#files.named(part));

  /** The file of a part: kept by this server for the scope, or elsewhere. */
  open(part: Part): TaskFile {
    const [, size, sha256, mediaType, filename] = this.#files.known(part, this.#scope) ?? [];
    return fileOf({ ...namesIn(mediaType, filename), ...part, size, sha256 }, async () => {
      const file = await this.#files.own(part, this.#scope);
      if (!file) return once(await this.#files.fetch(urlOf(part) ?? ''));
      // A fork has what its origin had, and its steps name the files of the origin, which may be gone.
      const found = (await this.#files.open(this.#ownKey(file))) ?? (await this.#files.open(file[0]));
      if (found) return found;
      throw new TypeError('The file is gone');
    });
  }

  #ownKey = ([key]: LinkedFile): string =>
    this.#files.keyOf(this.#scope, this.#taskId, key.slice(key.lastIndexOf('/') + 1));

  async #apart<T>(value: T, linkOf: LinkOf): Promise<Apart<T>> {
    const parts: Part[] = [];
    const found = new Map<Part, Apart<Part>>();
    mapParts(value, (part) => {
      parts.push(part);
      return part;
    });
    for (const part of parts) {
      const one = this.#apartOf(part, await linkOf(part));
      if (one) found.set(part, one);
    }
    return {
      value: found.size > 0 ? mapParts(value, (part) => found.get(part)?.value ?? part) : value,
      save: async () => {
        for (const { save } of found.values()) await save();
      },
    };
  }

  /** The part of the log for a file that is kept apart from it; undefined for another one. */
  #apartOf(part: Part, link: LinkedFile | undefined): Apart<Part> | undefined {
    const taskId = this.#taskId;
    if (link) {
      // The file of another task of the caller becomes one of this task: it is there as long as this one is.
      const [key, size, sha256, mediaType, filename] = link;
      const own = this.#ownKey(link);
      const id = own.slice(own.lastIndexOf('/') + 1);
      const about = { ...namesIn(mediaType, filename), ...part };
      const save = async () => (key === own ? undefined : this.#files.copy(key, own));
      return { value: storedPart({ taskId, id, size, sha256 }, about), save };
    }
    const [digits = ''] = (rawOf(part) ?? '').split('=', 1);
    if (Math.floor(digits.length * 0.75) <= this.#files.options.fromBytes) return undefined;
    const bytes = fromBase64(digits);
    // Under its hash, so that it is there once however often it is sent.
    const id = sha256(bytes, 'hex');
    const value = storedPart({ taskId, id, size: bytes.byteLength, sha256: id }, part);
    return { value, save: async () => void (await this.#files.save(this.#scope, taskId, bytes, { id })) };
  }
}

const namesIn = (mediaType?: string, filename?: string) => ({
  ...(mediaType && { mediaType }),
  ...(filename && { filename }),
});

/** A file that is read when it is asked for. */
function fileOf(
  { filename, mediaType, size, sha256 }: Partial<Omit<TaskFile, 'text' | 'blob'>>,
  read: () => Promise<AsyncIterable<Uint8Array>>,
): TaskFile {
  const bytes = async (): Promise<Uint8Array> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await read()) chunks.push(chunk);
    return concat(chunks);
  };
  return {
    filename,
    mediaType,
    size,
    sha256,
    async *stream() {
      yield* await read();
    },
    bytes,
    text: async () => new TextDecoder().decode(await bytes()),
    blob: async () => new Blob([(await bytes()) as Uint8Array<ArrayBuffer>], { type: mediaType ?? '' }),
  };
}

/** What a turn offers: see `Turn.saveFile` and `Turn.file`. */
export const toolsOf = (kept: ServerFiles | undefined, task: OfTask) => ({
  async saveFile(content: FileContent, about?: PartOptions): Promise<Part> {
    if (kept) return new TaskFiles(kept, task).save(content, about);
    throw new TypeError('`turn.saveFile` needs the option `files` of the server or worker');
  },
  file(part: Part): TaskFile {
    const raw = rawOf(part);
    if (raw !== undefined) {
      const bytes = fromBase64(raw);
      return fileOf({ ...part, size: bytes.byteLength }, async () => once(bytes));
    }
    if (kept) return new TaskFiles(kept, task).open(part);
    return fileOf(part, async () => {
      throw new TypeError('A file at a URL needs the option `files` of the server or worker');
    });
  },
});
