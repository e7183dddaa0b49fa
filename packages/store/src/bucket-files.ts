import { type FileStore, keyOfFile, type ListedFile } from './port/file-store.ts';

/** A part of an upload, once it is stored. */
export type StoredPart = { partNumber: number; etag: string };

/** An upload in parts, all of one size but the last. */
export interface PartsUpload {
  uploadPart(part: number, bytes: Uint8Array<ArrayBuffer>): Promise<StoredPart>;
  complete(parts: StoredPart[]): Promise<unknown>;
  abort(): Promise<void>;
}

/** What `bucketFiles` calls of a bucket: a binding of Cloudflare R2 has these methods. */
export interface Bucket {
  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<unknown>;
  head(key: string): Promise<unknown>;
  get(
    key: string,
    options?: { range: { offset: number; length: number } },
  ): Promise<{ readonly body?: AsyncIterable<Uint8Array> | null } | null>;
  delete(key: string): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string; readonly size: number; readonly uploaded: Date }[];
    readonly cursor?: string;
  }>;
  createMultipartUpload(key: string): Promise<PartsUpload>;
}

/** Buckets take parts of at least 5 MiB, and 10,000 of them. A Worker has 128 MB for all that it does. */
export const filePartBytes: number = 8 * 1_024 * 1_024;

/** Keeps the bytes of files in a bucket: up to 83 GB of each, of which 8 MiB at a time are in memory. */
export function bucketFiles(bucket: Bucket): FileStore {
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
        for await (const part of fileParts(bytes)) {
          if (!upload && part.byteLength < filePartBytes) return void (await bucket.put(key, part));
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
      // A bucket takes no range without bytes.
      if (range?.start === range?.end && range)
        return (await bucket.head(checked(key))) ? nothing() : undefined;
      const span = range && { range: { offset: range.start, length: range.end - range.start } };
      return (await bucket.get(checked(key), span))?.body ?? undefined;
    },
    delete: async (key) => bucket.delete(checked(key)),
    async *list(prefix): AsyncGenerator<ListedFile> {
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page = await bucket.list({ prefix, ...(cursor && { cursor }) });
        for (const { key, size, uploaded } of page.objects) yield { key, size, storedAt: uploaded.getTime() };
        cursor = page.cursor;
      }
    },
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/**
 * The bytes in parts of `filePartBytes`. The last one is smaller, and empty only if there are no bytes at all. Each part lies
 * in the memory of the one before: a reader that takes the next is done with it.
 */
export async function* fileParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let part = new Uint8Array(65_536);
  let size = 0;
  let isFirst = true;
  for await (let chunk of bytes) {
    while (chunk.byteLength > 0) {
      const wanted = Math.min(filePartBytes, size + chunk.byteLength);
      if (wanted > part.byteLength) {
        const first = part;
        part = new Uint8Array(filePartBytes);
        part.set(first);
      }
      part.set(chunk.subarray(0, wanted - size), size);
      chunk = chunk.subarray(wanted - size);
      size = wanted;
      if (size < filePartBytes) break;
      yield part;
      [size, isFirst] = [0, false];
    }
  }
  if (isFirst || size > 0) yield part.subarray(0, size);
}
