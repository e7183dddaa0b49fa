import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AgentServer, Body } from '@batonjs/server';

/** Serves an agent with `node:http` alone: a minimal skin, below `/`. */
export function nodeHttp(server: Pick<AgentServer, 'handle'>): RequestListener {
  return async (req, res) => {
    const gone = new AbortController();
    res.once('close', () => {
      if (!res.writableFinished) gone.abort(left);
    });
    const target = req.url ?? '/';
    const mark = target.indexOf('?');
    const { status, headers, body } = await server.handle({
      method: req.method ?? 'GET',
      path: mark === -1 ? target : target.slice(0, mark),
      query: new URLSearchParams(mark === -1 ? '' : target.slice(mark)),
      headers: req.headers as Record<string, string | undefined>,
      readBody: (limit) => readBody(req, limit),
      baseUrl: `http://${req.headers.host}`,
      signal: gone.signal,
    });
    if (body === undefined || typeof body === 'string') {
      res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body ?? '') });
      res.end(body);
    } else {
      res.writeHead(status, headers);
      await pump(body, res);
    }
  };
}

const left = new Error('The client left');

function readBody(req: IncomingMessage, limit: number): Promise<Body | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
    });
    req.once('end', () => resolve(length > limit ? undefined : { bytes: Buffer.concat(chunks) }));
    req.once('error', reject);
  });
}

async function pump(body: AsyncIterable<string>, res: ServerResponse): Promise<void> {
  for await (const text of body) {
    if (res.destroyed) return;
    if (!res.write(text))
      await new Promise<void>((resolve) => void res.once('drain', resolve).once('close', resolve));
  }
  res.end();
}
