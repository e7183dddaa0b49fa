import { recordName, type StoreSource } from '../../base/store/records.ts';
import { Rounds } from '../../base/store/rounds.ts';
import type { CompleteFiles } from './file-options.ts';
import { ownerOf, prefixOfQueue, UPLOADS } from './server-files.ts';

interface Sources extends StoreSource {
  readonly options: { readonly queue: string };
}

/** How old a file is at least that is deleted, in milliseconds: the log that names it is written after it. */
const graceMs = 3_600_000;

/**
 * Deletes files from time to time whose task is gone, and uploads that no message named in time. Deletes nothing where the
 * files are those of another store: its tasks are not to be seen here.
 */
export class FileSweep extends Rounds {
  readonly #options: CompleteFiles;
  readonly #sources: Sources;
  readonly #prefix: string;

  constructor(options: CompleteFiles, sources: Sources) {
    const { queue } = sources.options;
    super(sources, { name: recordName('file-sweep', queue), what: 'files', everyMs: options.sweepMs });
    this.#options = options;
    this.#sources = sources;
    this.#prefix = prefixOfQueue(queue);
  }

  /** Deletes them now. Resolves to how many. */
  async round(): Promise<number> {
    const { clock, logger, options } = this.#sources;
    const { store, uploadMs } = this.#options;
    if (!(await this.#isOfThisStore())) {
      logger('warn', 'The file store has files of other tasks: no files are deleted', options);
      return 0;
    }
    const now = clock.now();
    let deleted = 0;
    let known: { readonly name: string; readonly isThere: boolean } | undefined;
    for await (const { key, storedAt } of store.list(this.#prefix)) {
      if (this.signal.aborted) break;
      const owner = ownerOf(key);
      if (!owner || storedAt > now - (owner.taskId === UPLOADS ? uploadMs : graceMs)) continue;
      const { scope, taskId } = owner;
      const name = key.slice(0, key.lastIndexOf('/'));
      if (known?.name !== name)
        known = { name, isThere: taskId !== UPLOADS && !!(await this.#sources.store.load(scope, taskId)) };
      if (known.isThere) continue;
      await store.delete(key);
      deleted += 1;
    }
    if (deleted > 0) logger('info', 'Files without a task were deleted', { deleted });
    return deleted;
  }

  /** Whether the files were stored for these tasks: both have the same mark, which the first sweep makes. */
  async #isOfThisStore(): Promise<boolean> {
    const { store: tasks, options } = this.#sources;
    const { store } = this.#options;
    const name = recordName('file-mark', options.queue);
    await tasks.putRecord(name, 0, crypto.randomUUID());
    const mark = `${this.#prefix}mark/${(await tasks.getRecord(name))?.value}`;
    const marks: string[] = [];
    for await (const { key } of store.list(`${this.#prefix}mark/`)) marks.push(key);
    if (marks.length === 0) await store.put(mark, nothing());
    return marks.length === 0 || (marks.length === 1 && marks[0] === mark);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
