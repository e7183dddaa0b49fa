import { type FileStore, keyOfFile, type ListedFile } from '@batonjs/store/files';

/** A part of an upload, once it is stored. */
interface StoredPart {
  partNumber: number;
  etag: string;
}

/** An upload in parts, all of one size but the last. */
interface PartsUpload {
  uploadPart(part: number, bytes: Blob): Promise<StoredPart>;
  complete(parts: StoredPart[]): Promise<unknown>;
  abort(): Promise<void>;
}

/** What `r2Files` calls of a bucket of Cloudflare R2, which is bound to the Worker. */
export interface R2Binding {
  put(key: string, bytes: Blob): Promise<unknown>;
  head(key: string): Promise<unknown>;
  get(
    key: string,
    options?: { range: { offset: number; length: number } },
  ): Promise<{ readonly body?: AsyncIterable<Uint8Array> | null } | null>;
  delete(key: string): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string; readonly uploaded: Date }[];
    readonly cursor?: string;
  }>;
  createMultipartUpload(key: string): Promise<PartsUpload>;
}

/** R2 takes parts of at least 5 MiB, and 10,000 of them. A Worker has 128 MB for all that it does. */
const partBytes = 8 * 1_024 * 1_024;

/**
 * Keeps the bytes of files in a bucket of Cloudflare R2 that is bound to the Worker: files of up to 83 GB, of which 8 MiB
 * at a time are in memory. R2 deletes the parts that a Worker left which died while it wrote, after seven days.
 */
export function r2Files(bucket: R2Binding): FileStore {
  const checked = (key: string): string => {
    if (!keyOfFile.test(key)) throw new TypeError(`'${key}' is no key of a file`);
    return key;
  };
  return {
    async put(key, bytes) {
      checked(key);
      let upload: PartsUpload | undefined;
      try {
        const parts: StoredPart[] = [];
        for await (const part of partsOf(bytes)) {
          if (!upload && part.size < partBytes) return void (await bucket.put(key, part));
          upload ??= await bucket.createMultipartUpload(key);
          parts.push(await upload.uploadPart(parts.length + 1, part));
        }
        await upload?.complete(parts);
      } catch (error) {
        await upload?.abort().catch(() => {});
        throw error;
      }
    },
    async get(key, range) {
      // R2 takes no range without bytes.
      if (range?.start === range?.end && range)
        return (await bucket.head(checked(key))) ? nothing() : undefined;
      const span = range && { range: { offset: range.start, length: range.end - range.start } };
      return (await bucket.get(checked(key), span))?.body ?? undefined;
    },
    delete: async (key) => bucket.delete(checked(key)),
    async *list(prefix): AsyncGenerator<ListedFile> {
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page = await bucket.list({ prefix, ...(cursor && { cursor }) });
        for (const { key, uploaded } of page.objects) yield { key, storedAt: uploaded.getTime() };
        cursor = page.cursor;
      }
    },
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The bytes in parts of one size. The last one is smaller, or empty. */
async function* partsOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Blob> {
  let held: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (let chunk of bytes) {
    for (let room = partBytes - size; chunk.byteLength >= room; room = partBytes) {
      yield new Blob([...held, chunk.slice(0, room)]);
      chunk = chunk.subarray(room);
      [held, size] = [[], 0];
    }
    // A source may use its buffer again.
    held.push(chunk.slice());
    size += chunk.byteLength;
  }
  yield new Blob(held);
}
