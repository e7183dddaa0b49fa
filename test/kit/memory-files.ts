import { type FileStore, keyOfFile } from '@batonjs/store/files';

/** Keeps the bytes of files in this process, for tests: they are gone when it ends. */
export function memoryFiles(): FileStore {
  const files = new Map<string, { readonly blob: Blob; readonly storedAt: number }>();
  return {
    async put(key, chunks) {
      if (!keyOfFile.test(key)) throw new TypeError(`'${key}' is no key of a file`);
      const all: Uint8Array<ArrayBuffer>[] = [];
      for await (const chunk of chunks) all.push(new Uint8Array(chunk));
      files.set(key, { blob: new Blob(all), storedAt: Date.now() });
    },
    async get(key, range) {
      const blob = files.get(key)?.blob;
      return blob && read(range ? blob.slice(range.start, range.end) : blob);
    },
    async delete(key) {
      files.delete(key);
    },
    async *list(prefix) {
      for (const [key, { blob, storedAt }] of [...files])
        if (key.startsWith(prefix)) yield { key, size: blob.size, storedAt };
    },
  };
}

async function* read(blob: Blob): AsyncGenerator<Uint8Array> {
  if (blob.size > 0) yield new Uint8Array(await blob.arrayBuffer());
}
