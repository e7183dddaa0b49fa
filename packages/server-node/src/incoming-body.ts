import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Body } from '@batonjs/server';

/** Whether this is the `{}` that Express 4 has for a body that no parser has read. */
const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && Object.keys(body).length === 0;

/** A request whose body a parser may have read and left as a value, or the stream that took its place. */
export type Parsed = Readable & Pick<IncomingMessage, 'headers'> & { readonly body?: unknown };

/**
 * The body of a request. Undefined if it is larger than `limit` bytes; the rest is not read. Rejects if the client leaves
 * before its end.
 */
export function readIncomingBody(req: Parsed, limit: number): Promise<Body | undefined> {
  const { body } = req;
  if (req.readableEnded || req.readableDidRead || (body !== undefined && !isEmpty(body))) {
    if (typeof body === 'string') return Promise.resolve({ bytes: Buffer.from(body) });
    return Promise.resolve(Buffer.isBuffer(body) ? { bytes: body } : { value: body });
  }
  const encoding = req.headers['content-encoding']?.trim() ?? '';
  if (!/^(identity)?$/i.test(encoding)) return Promise.resolve({ encoding: encoding.slice(0, 40) });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) return void chunks.push(chunk);
      // Not destroyed: the connection still has to carry the answer.
      req.off('data', onData);
      req.pause();
      resolve(undefined);
    };
    const onEnd = () => {
      // The request of a stream lives as long as the stream, and so does everything that its listeners capture.
      req.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose);
      resolve({ bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) });
    };
    const onClose = () => reject(new Error('The client left'));
    req.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}
