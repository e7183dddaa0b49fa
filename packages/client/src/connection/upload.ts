import { httpJsonClient } from '@batonjs/bindings';
import type { Part } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { FILES } from '@batonjs/protocol/headers';
import { fileAt, streamsBodies } from '#http';
import type { CallOptions } from '../options/connect-options.ts';
import { readReply, startDeadline } from './call-deadline.ts';
import { exchange } from './exchange.ts';
import { outOfReach, startRetries } from './retries.ts';
import type { Session } from './session.ts';
import { pieceBytes, type SentFile, uploadInPieces } from './upload-pieces.ts';

/** The content of an upload: a `Blob` or `File`, a stream, or the path of a file, where there are any. */
export type UploadContent = Blob | ReadableStream<Uint8Array> | string;

/** What an upload says of its file. `timeoutMs`: none by default. */
export interface UploadOptions extends CallOptions {
  /** Default: the name of the `File`, or of the path. */
  readonly filename?: string | undefined;
  /** Default: the type of the `Blob`. */
  readonly mediaType?: string | undefined;
  /** Called with the bytes sent so far, and all of them where that is known; of a file in pieces, after each of 8 to 64 MiB. */
  readonly onProgress?: ((sent: number, total: number | undefined) => void) | undefined;
  /** Called with the address at which a `Blob` or file of more than 8 MiB goes on after a break, before its first byte is sent. */
  readonly onBegun?: ((address: string) => void) | undefined;
  /** That address: the upload of the same file goes on there, or begins again if the agent knows it no longer. */
  readonly resume?: string | undefined;
}

/**
 * Uploads a file. Resolves to the part that names it in a message. One of more than 8 MiB goes in pieces, which go on by
 * themselves when the agent was away for up to `followForMs`.
 */
export async function upload(
  session: Session,
  content: UploadContent,
  { filename, mediaType, onProgress, onBegun, resume, ...options }: UploadOptions,
): Promise<Part> {
  const { settings, card, version } = session;
  const offered = card.capabilities?.extensions?.find(({ uri }) => uri === FILES)?.params;
  if (typeof offered?.url !== 'string')
    throw new A2AError('UNSUPPORTED_OPERATION', "The agent's card offers no uploads");
  const source = typeof content === 'string' ? await fileAt(content) : content;
  const file: SentFile | undefined = 'slice' in source ? source : undefined;
  const { name, type, size } = file ?? {};
  if (Number(size) > Number(offered.maxBytes))
    throw new A2AError('PAYLOAD_TOO_LARGE', `The file is larger than ${offered.maxBytes} bytes`);
  const { tenant } = session.candidates[session.current]!;
  const about = { filename: filename ?? name, mediaType: mediaType ?? type, tenant };
  const address = new URL(offered.url);
  for (const [member, value] of Object.entries(about)) if (value) address.searchParams.set(member, value);
  let sent = 0;
  const body = (): BodyInit => {
    if (source instanceof Blob && !streamsBodies) return source;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        onProgress?.(sent, size);
        controller.enqueue(chunk);
      },
    });
    return ('slice' in source ? source.stream() : source).pipeThrough(counted);
  };
  const deadline = startDeadline({ timeoutMs: 0, ...options }, settings, address.href);
  const { signal } = deadline;
  const partIn = async (response: Response): Promise<Part> => {
    const reply = await readReply(response, settings.maxResponseBytes, address.href);
    return httpJsonClient.decodeReply({ operation: 'SendMessage', params: {} }, reply) as Part;
  };
  const ask = async (method: string, url: string, headers: Record<string, string>, body?: () => BodyInit) => {
    const context = { ...options, settings, version, extensions: [], signal };
    const response = await exchange({ method, url, headers, body }, context).catch((error) => {
      throw deadline.classify(error);
    });
    const isState = response.ok || response.status === 409 || (response.status === 404 && method === 'HEAD');
    if (!isState) await partIn(response);
    return response;
  };
  try {
    if (offered.tus && file && file.size > pieceBytes) {
      const { followForMs: forMs } = settings;
      const giveUp = (error: unknown) => outOfReach(session, forMs, 'Upload it again with `resume`', error);
      const repeatable = { ...options, repeatable: true };
      const retries = startRetries(session, 'GetTask', {}, repeatable, signal, { forMs, giveUp });
      const pieces = { resume, onBegun, onProgress };
      return await partIn(await uploadInPieces(file, address.href, ask, retries, pieces));
    }
    const length: Record<string, string> = size === undefined ? {} : { 'content-length': `${size}` };
    const part = await partIn(await ask('POST', address.href, length, body));
    if (sent === 0) onProgress?.(size ?? 0, size);
    return part;
  } catch (error) {
    throw deadline.classify(error);
  } finally {
    deadline.close();
  }
}
