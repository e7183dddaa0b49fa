import type { IncomingMessage, ServerResponse } from 'node:http';

/** An answer of Baton with the id of its request in it, for floors to repeat. */
export interface Sample {
  readonly id: number;
  readonly body: string;
}

/** Fills in another request's id where the sample has its own: as `id` of the envelope, and in `message-<id>`. */
export function templateOf({ id, body }: Sample): (id: number) => string {
  const marked = body.replaceAll(`message-${id}`, 'message-\0').replace(`"id":${id}`, '"id":\0');
  const pieces = marked.split('\0');
  return (own) => pieces.join(String(own));
}

/** Reads and parses a JSON-RPC request; calls back with its id. */
export function readId(req: IncomingMessage, done: (id: number) => void): void {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.once('end', () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    done((JSON.parse(bytes.toString()) as { id: number }).id);
  });
}

/** Answers with the headers that Baton sends. */
export function respond(res: ServerResponse, body: string): void {
  res.writeHead(200, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(body),
  });
  res.end(body);
}
