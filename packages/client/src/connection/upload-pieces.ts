import { A2AError } from '@batonjs/protocol/errors';
import type { Retries } from './retries.ts';

/** The fewest bytes of one request, and the most. The server keeps them before it answers, and those of a broken one by 8 MiB. */
export const pieceBytes: number = 8 * 1_048_576;
const mostBytes = 8 * pieceBytes;

/** A `Blob`, or a file that can be read like one. */
export interface SentFile extends Pick<Blob, 'size' | 'stream'>, Partial<Pick<File, 'name' | 'type'>> {
  slice(start: number, end: number): Pick<Blob, 'stream'>;
}

type Named = Record<string, string>;

/** Rejects if there is no answer, and with the error of one that tells no state of an upload. */
type Ask = (method: string, url: string, headers: Named, body?: () => BodyInit) => Promise<Response>;

interface PieceOptions {
  readonly resume: string | undefined;
  readonly onBegun: ((address: string) => void) | undefined;
  readonly onProgress: ((sent: number, total: number) => void) | undefined;
}

/** Uploads a file by tus 1.0, and goes on after a break where the server is. Resolves to the answer that tells its part. */
export async function uploadInPieces(
  file: SentFile,
  address: string,
  ask: Ask,
  retries: Retries,
  options: PieceOptions,
) {
  const tus = { 'tus-resumable': '1.0.0' };
  let at = options.resume;
  for (let state: Response | undefined; ; ) {
    try {
      state ??= at
        ? await ask('HEAD', at, tus)
        : await ask('POST', address, { ...tus, 'upload-length': `${file.size}` });
      // The connection that broke may still be writing.
      if (state.status === 409) throw new A2AError('UNAVAILABLE', 'The agent still takes an earlier piece');
      if (state.status === 404) {
        [at, state] = [undefined, undefined];
        continue;
      }
      if (!at) {
        at = new URL(state.headers.get('location') ?? '', address).href;
        options.onBegun?.(at);
      }
      const offset = Number(state.headers.get('upload-offset'));
      options.onProgress?.(offset, file.size);
      if (offset >= file.size) return await ask('GET', at, {});
      const end = Math.min(
        offset + Math.max(pieceBytes, Math.min(Math.ceil(file.size / 100), mostBytes)),
        file.size,
      );
      const piece = file.slice(offset, end);
      const head = { 'content-type': 'application/offset+octet-stream', 'upload-offset': `${offset}` };
      const length: Named = piece instanceof Blob ? {} : { 'content-length': `${end - offset}` };
      const body = () => (piece instanceof Blob ? piece : piece.stream());
      state = await ask('PATCH', at, { ...tus, ...head, ...length }, body);
      if (state.ok) retries.reset();
    } catch (error) {
      state = undefined;
      await retries.after(error);
    }
  }
}
