import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { faultOfSignature, hashOf } from './signature.ts';

interface Kept {
  readonly bytes: Buffer;
  readonly at: Date;
}

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
}

/** What goes wrong with a request instead of its answer. `lost`: it is done, and its answer never comes. */
export type S3Fault = 'hang' | 'cut' | 'lost' | { readonly status: number; readonly code: string };

const statuses: Readonly<Record<string, number>> = {
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  InvalidRange: 416,
  MissingContentLength: 411,
  NotImplemented: 501,
};
const minPartBytes = 5 * 1_024 * 1_024;

class S3Error extends Error {}

/** A bucket of S3, as strict as AWS: it checks signatures, hashes, parts and ranges, and keeps all in memory. */
export class S3Server {
  readonly bucket = 'files';
  readonly objects = new Map<string, Kept>();
  readonly uploads = new Map<string, Upload>();
  /** Access keys and their secrets. */
  readonly keys: Record<string, string> = { id: 'secret' };
  /** `METHOD key?query` of each request that was let in. */
  readonly log: string[] = [];
  /** How many keys a page has. */
  pageSize = 1_000;
  /** How large a file may be that is copied. */
  copyBytes = 5 * 1_024 ** 3;
  /** Asked for each request: what goes wrong with it. */
  fault: (request: string) => S3Fault | undefined = () => undefined;
  #next = 0;

  /** To listen with. */
  readonly server: Server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => this.#answer(req, res, Buffer.concat(chunks)));
    req.on('error', () => {});
  });

  #answer(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
    const { pathname, searchParams: query } = new URL(req.url ?? '', 'http://s3');
    const [, bucket = '', key = ''] = /^\/([^/]+)\/?(.*)$/.exec(decodeURIComponent(pathname)) ?? [];
    const line = `${req.method} ${key}?${query}`;
    const fault = this.fault(line);
    if (fault === 'hang') return;
    if (fault === 'cut') return void req.socket.destroy();
    try {
      if (typeof fault === 'object') throw new S3Error(fault.code, { cause: fault.status });
      const code = faultOfSignature(req, body, this.keys);
      if (code) throw new S3Error(code);
      if (bucket !== this.bucket) throw new S3Error('NoSuchBucket');
      this.log.push(line);
      const { status = 200, text = '', headers } = this.#do(req, { key, query, body });
      if (fault === 'lost') req.socket.destroy();
      else send(res, status, text, headers);
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      send(
        res,
        Number(error.cause ?? statuses[error.message] ?? 400),
        req.method === 'HEAD' ? '' : errorOf(error.message),
      );
    }
  }

  #do(
    { method, headers }: IncomingMessage,
    { key, query, body }: { key: string; query: URLSearchParams; body: Buffer },
  ): { status?: number; text?: string | Buffer; headers?: Record<string, string> } {
    const uploadId = query.get('uploadId');
    if (method === 'GET' && key === '') return this.#list(query);
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload&${++this.#next}`;
      this.uploads.set(id, { key, parts: new Map() });
      return {
        text: `<InitiateMultipartUploadResult><Key>${key}</Key><UploadId>${escaped(id)}</UploadId></InitiateMultipartUploadResult>`,
      };
    }
    if (uploadId !== null) return this.#ofUpload(method, key, { id: uploadId, query, headers, body });
    if (method === 'PUT' && headers['x-amz-copy-source']) {
      const from = this.#object(String(headers['x-amz-copy-source']).slice(`/${this.bucket}/`.length));
      if (from.bytes.length > this.copyBytes) throw new S3Error('InvalidRequest');
      this.objects.set(key, { bytes: from.bytes, at: new Date() });
      return { text: '<CopyObjectResult></CopyObjectResult>' };
    }
    if (method === 'PUT') {
      mustHaveLength(headers);
      this.objects.set(key, { bytes: body, at: new Date() });
      return { headers: { etag: `"${hashOf(body, 'md5')}"` } };
    }
    if (method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    if (method !== 'GET' && method !== 'HEAD') throw new S3Error('NotImplemented');
    const { bytes } = this.#object(key);
    if (headers.range === undefined) return { text: bytes };
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range) ?? [];
    if (!(Number(first) < bytes.length) || Number(last) < Number(first)) throw new S3Error('InvalidRange');
    return { status: 206, text: bytes.subarray(Number(first), Number(last) + 1) };
  }

  #object(key: string): Kept {
    const object = this.objects.get(key);
    if (!object) throw new S3Error('NoSuchKey');
    return object;
  }

  #ofUpload(
    method: string | undefined,
    key: string,
    {
      id,
      query,
      headers,
      body,
    }: { id: string; query: URLSearchParams; headers: IncomingMessage['headers']; body: Buffer },
  ) {
    const upload = this.uploads.get(id);
    if (upload?.key !== key) throw new S3Error('NoSuchUpload');
    if (method === 'PUT') {
      mustHaveLength(headers);
      const number = Number(query.get('partNumber'));
      if (!(number >= 1 && number <= 10_000)) throw new S3Error('InvalidArgument');
      upload.parts.set(number, body);
      return { headers: { etag: `"${hashOf(body, 'md5')}"` } };
    }
    if (method === 'DELETE') {
      this.uploads.delete(id);
      return { status: 204 };
    }
    const list = [
      ...body.toString().matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>"(\w+)"<\/ETag><\/Part>/g),
    ];
    const parts = list.map(([, number, etag]) => {
      const part = upload.parts.get(Number(number));
      if (!part || hashOf(part, 'md5') !== etag) throw new S3Error('InvalidPart');
      return part;
    });
    if (list.some(([, number], n) => Number(number) !== n + 1)) throw new S3Error('InvalidPartOrder');
    // R2 takes parts of one size only.
    if (
      parts.length === 0 ||
      parts.slice(0, -1).some(({ length }) => length < minPartBytes || length !== parts[0]!.length)
    )
      throw new S3Error('EntityTooSmall');
    this.uploads.delete(id);
    this.objects.set(key, { bytes: Buffer.concat(parts), at: new Date() });
    return { text: `\n  <CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>` };
  }

  #list(query: URLSearchParams) {
    if (query.get('list-type') !== '2') throw new S3Error('NotImplemented');
    const after = query.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()].filter(
      (key) => key.startsWith(query.get('prefix') ?? '') && `&${key}` > after,
    );
    const page = keys.sort().slice(0, this.pageSize);
    const rows = page.map((key) => {
      const { at, bytes } = this.objects.get(key)!;
      return `<Contents><Key>${key}</Key><LastModified>${at.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    const next =
      keys.length > page.length ? `<NextContinuationToken>&amp;${page.at(-1)}</NextContinuationToken>` : '';
    return {
      text: `<ListBucketResult><Name>${this.bucket}</Name>${next}${rows.join('')}</ListBucketResult>`,
    };
  }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;');

const errorOf = (code: string): string =>
  `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>It went wrong</Message></Error>`;

function mustHaveLength(headers: IncomingMessage['headers']): void {
  if (headers['content-length'] === undefined) throw new S3Error('MissingContentLength');
}

function send(
  res: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
}
