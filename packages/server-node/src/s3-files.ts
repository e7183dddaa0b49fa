import { setTimeout as sleep } from 'node:timers/promises';
import { type Bucket, bucketFiles, type FileStore } from '@batonjs/store/files';
import { AwsV4Signer } from 'aws4fetch';

/** What signs requests. The credential providers of the AWS SDK return it. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** A bucket, and how it is called. */
export interface S3FilesOptions {
  /** The URL of the service, without the bucket: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  /** Its name. It stands in the path of requests (path style). */
  readonly bucket: string;
  /** A function is called for each request: it returns credentials that have not ended. */
  readonly credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /** Default: the one in the host of AWS, `auto` at R2, or `us-east-1`. */
  readonly region?: string | undefined;
  /** How long a request waits for its answer to begin, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number | undefined;
}

type Texts = Readonly<Record<string, string>>;
type Call = (
  method: string,
  key: string,
  query?: Texts,
  body?: Uint8Array<ArrayBuffer>,
  headers?: Texts,
) => Promise<Response>;

/**
 * Keeps the bytes of files in a bucket of S3, or of a service with its API: up to 83 GB of each, of which 8 MiB are in memory.
 * The credentials may get, put, delete and list objects, and abort uploads. Throws `TypeError` for a wrong `endpoint`.
 */
export function s3Files(options: S3FilesOptions): FileStore {
  const call = signedCalls(options);
  const files = bucketFiles(bucketOf(call));
  return {
    ...files,
    async copy(from, to) {
      const source = { 'x-amz-copy-source': `/${options.bucket}/${from}` };
      const answer = await call('PUT', to, {}, undefined, source);
      if ((await answer.text()).includes('<CopyObjectResult')) return true;
      // There is no such file, or it has more than 5 GiB, which are not copied.
      const bytes = await files.get(from);
      if (bytes) await files.put(to, bytes);
      return bytes !== undefined;
    },
  };
}

function bucketOf(call: Call): Bucket {
  const get: Bucket['get'] = async (key, span) => {
    const { offset = 0, length = 0 } = span?.range ?? {};
    const range = span && { range: `bytes=${offset}-${offset + length - 1}` };
    const answer = await call('GET', key, {}, undefined, range);
    return answer.ok ? answer : textOf(answer).then(() => null);
  };
  return {
    put: async (key, body) => textOf(await call('PUT', key, {}, body)),
    get,
    head: async (key) => (await call('HEAD', key)).ok || get(key),
    delete: async (key) => void (await textOf(await call('DELETE', key))),
    async list({ prefix, cursor }) {
      const query = { 'list-type': '2', prefix, ...(cursor && { 'continuation-token': cursor }) };
      const page = await textOf(await call('GET', '', query), 'ListBucketResult');
      const objects = elements(page, 'Contents').map((one) => {
        const uploaded = new Date(inside(one, 'LastModified'));
        return { key: inside(one, 'Key'), size: Number(inside(one, 'Size')), uploaded };
      });
      const next = inside(page, 'NextContinuationToken');
      return { objects, ...(next && { cursor: next }) };
    },
    async createMultipartUpload(key) {
      const begun = await textOf(await call('POST', key, { uploads: '' }), 'InitiateMultipartUploadResult');
      const uploadId = inside(begun, 'UploadId');
      return {
        async uploadPart(partNumber, body) {
          const stored = await call('PUT', key, { partNumber: `${partNumber}`, uploadId }, body);
          await textOf(stored);
          return { partNumber, etag: `${stored.headers.get('etag')}` };
        },
        async complete(parts) {
          let list = '';
          for (const { partNumber: n, etag } of parts)
            list += `<Part><PartNumber>${n}</PartNumber><ETag>${etag}</ETag></Part>`;
          const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
          // Its error may come with the status 200.
          await textOf(await call('POST', key, { uploadId }, body), 'CompleteMultipartUploadResult');
        },
        abort: async () => void (await textOf(await call('DELETE', key, { uploadId }))),
      };
    },
  };
}

/** Makes signed requests, up to four times. The hash of a body is signed, so that no other bytes are taken than were sent. */
function signedCalls({ endpoint, bucket, credentials, region, timeoutMs = 60_000 }: S3FilesOptions): Call {
  const base = `${new URL(endpoint).href.replace(/(?<!\/)\/+$/, '')}/${bucket}`;
  const cache = new Map<string, ArrayBuffer>();
  return async (method, key, query = {}, body = undefined, headers = {}) => {
    const url = `${base}${key && `/${key}`}?${new URLSearchParams(query)}`;
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', body ?? new Uint8Array()));
    const hashed = { ...headers, 'x-amz-content-sha256': digest.toString('hex') };
    const aws = { method, url, headers: hashed, service: 's3', cache, ...(region && { region }) };
    for (let sent = 1; ; sent++) {
      const given = typeof credentials === 'function' ? await credentials() : credentials;
      const signed = await new AwsV4Signer({ ...aws, ...given } as typeof aws & S3Credentials).sign();
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(new Error('S3 did not answer in time')), timeoutMs);
      const request = { method, headers: signed.headers, signal: late.signal, ...(body && { body }) };
      const answer = await fetch(signed.url, request)
        .catch((error) => {
          // It is a `TypeError` if there was no connection. A service that is slow is not asked again.
          if (sent === 4 || !(error instanceof TypeError)) throw error;
        })
        .finally(() => clearTimeout(timer));
      if (answer && (sent === 4 || (answer.status < 500 && answer.status !== 429))) return answer;
      await answer?.body?.cancel();
      await sleep(Math.random() * 100 * 2 ** sent);
    }
  };
}

/** The text of an answer, which must have this element, or be a success or the word that there is no such file. */
async function textOf(answer: Response, element?: string): Promise<string> {
  const text = await answer.text();
  const code = inside(text, 'Code');
  if (element ? text.includes(`<${element}`) : answer.ok || code === 'NoSuchKey') return text;
  throw new Error(`S3 answered with ${answer.status}: ${code} ${inside(text, 'Message')}`.trim());
}

const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, text = '']) => text);

/** The text of an element. Keys have no character that is escaped, ids of uploads and pages may. */
const inside = (xml: string, name: string): string =>
  (elements(xml, name)[0] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
