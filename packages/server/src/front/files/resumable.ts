import type { HttpReply } from '@batonjs/bindings';
import type { Part } from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { JSON_TYPE } from '@batonjs/protocol/headers';
import type { Scope } from '@batonjs/store';
import { fileParts } from '@batonjs/store/files';
import { fromBase64, fromUtf8 } from '#bytes';
import { recordName } from '../../base/store/records.ts';
import type { Dependencies } from '../../operations/call/call-context.ts';
import { once, type ServerFiles, tooLarge, UPLOADS } from '../../turns/files/server-files.ts';
import type { StoredFile } from '../../turns/files/stored-part.ts';
import { type HttpExchange, refusal } from '../http/request-body.ts';

/** On every request and answer of tus. */
export const tusVersion = { 'tus-resumable': '1.0.0' };
const offsetType = 'application/offset+octet-stream';
/** How many uploads a caller may have that are unfinished, or became a file within `finishedMs`. */
const mostUploads = 500;
/** How long an upload says what file it became, in milliseconds: an answer may be lost. */
const finishedMs = 600_000;
/** Of more pieces one is made: a record has no room for them. */
const mostPieces = 500;

/** An upload, a record of the store. Its bytes are those of `pieces`, files of their own, in this order, or of `file`. */
interface Upload {
  readonly length: number;
  readonly offset: number;
  readonly pieces: readonly string[];
  readonly file?: StoredFile;
  readonly metadata: string;
  readonly about: Partial<Part>;
  readonly expiresAt: number;
}

type Found = { readonly revision: number; readonly value: Upload };

/** The uploads of one caller. A piece is durable before the record names it, and of two writers of a record one wins. */
export interface Uploads {
  readonly files: ServerFiles;
  readonly scope: Scope;
  readonly sources: Dependencies;
}

/** What the server can do. Spec: tus 1.0, OPTIONS. */
export const tusOffer = ({ options }: ServerFiles): HttpReply['headers'] => ({
  'tus-version': '1.0.0',
  'tus-extension': 'creation,creation-with-upload,expiration,termination',
  'tus-max-size': `${options.uploadBytes}`,
});

/** Begins an upload, perhaps with its first bytes. Spec: tus 1.0, creation and creation-with-upload. */
export async function begin(of: Uploads, exchange: HttpExchange, about: Partial<Part>): Promise<HttpReply> {
  const { 'upload-length': given = '', 'upload-metadata': metadata = '' } = exchange.headers;
  const { uploadBytes, unfinishedBytes, uploadMs, url } = of.files.options;
  const { store, clock } = of.sources;
  if (!/^\d{1,15}$/.test(given)) return refusal(400, '`Upload-Length` must be the bytes of the file');
  if (Number(given) > uploadBytes) throw tooLarge(uploadBytes);
  const begun = await store.listRecords({ prefix: nameOf(of, ''), limit: mostUploads });
  if (begun.length === mostUploads)
    throw new A2AError('RESOURCE_EXHAUSTED', `The caller has ${mostUploads} uploads: end or delete some`);
  const unfinished = begun.flatMap(({ value }) => ((value as Upload).file ? [] : (value as Upload).length));
  if (unfinished.reduce((sum, bytes) => sum + bytes, Number(given)) > unfinishedBytes)
    throw new A2AError(
      'RESOURCE_EXHAUSTED',
      `Unfinished uploads have at most ${unfinishedBytes} bytes: end some`,
    );
  const id = crypto.randomUUID();
  const expiresAt = clock.now() + uploadMs;
  const value = { length: Number(given), offset: 0, pieces: [], metadata, about, expiresAt };
  const revision = (await write(of, id, 0, value)) ?? 0;
  const hasBytes = exchange.headers['content-type'] === offsetType;
  const reply = hasBytes ? await append(of, id, { revision, value }, exchange) : undefined;
  const tenant = exchange.query.get('tenant');
  const location = `${url}/files/${id}${tenant ? `?tenant=${encodeURIComponent(tenant)}` : ''}`;
  return { status: 201, headers: { ...(reply?.headers ?? stateOf(value)), location } };
}

/** Answers a request for an upload. Spec: tus 1.0, HEAD, PATCH, termination. GET is not of tus: it tells the part. */
export async function answerUpload(of: Uploads, id: string, exchange: HttpExchange): Promise<HttpReply> {
  const found = (await of.sources.store.getRecord(nameOf(of, id))) as Found | undefined;
  if (!found) return refusal(404, 'There is no such upload, or it has expired');
  const { length, offset, metadata } = found.value;
  const { method, headers } = exchange;
  const state = stateOf(found.value);
  if (method === 'DELETE') {
    await of.sources.store.deleteRecord(nameOf(of, id));
    await remove(of, id);
    return { status: 204, headers: {} };
  }
  if (method === 'HEAD') {
    const given = { 'upload-length': `${length}`, ...(metadata && { 'upload-metadata': metadata }) };
    return { status: 200, headers: { ...state, ...given } };
  }
  if (method === 'GET') {
    if (offset < length) return refusal(409, `${offset} of ${length} bytes have come`, state);
    return (await answerPart(of, id, found)) ?? answerUpload(of, id, exchange);
  }
  if (headers['content-type'] !== offsetType) return refusal(415, `A PATCH has the type ${offsetType}`);
  if (headers['upload-offset'] === `${offset}`) return append(of, id, found, exchange);
  return refusal(409, `\`Upload-Offset\` must be ${offset}`, state);
}

/** Stores what comes, also of a connection that breaks: 8 MiB are kept before the next ones are taken. */
async function append(of: Uploads, id: string, { revision, value }: Found, exchange: HttpExchange) {
  const { length } = value;
  if (value.offset + Number(exchange.headers['content-length'] ?? 0) > length) throw tooLarge(length);
  let now: Found = { revision, value };
  for await (const piece of fileParts(untilCut(bytesIn(exchange)))) {
    const { offset, pieces } = now.value;
    const end = offset + piece.byteLength;
    if (end > length) throw tooLarge(length);
    if (piece.byteLength === 0) break;
    const name = `${id}.${offset}-${crypto.randomUUID().slice(0, 8)}`;
    await of.files.put(of.files.keyOf(of.scope, UPLOADS, name), once(piece));
    const all = [...pieces, name];
    const isMany = all.length > mostPieces;
    if (isMany) await join(of, all, `${name}-all`, end);
    const next = { ...now.value, offset: end, pieces: isMany ? [`${name}-all`] : all };
    const written = await write(of, id, now.revision, next);
    if (written === undefined) {
      await remove(of, name);
      return refusal(409, 'Another request went on with the upload');
    }
    now = { revision: written, value: next };
  }
  return { status: 204, headers: stateOf(now.value) };
}

/** Makes one file of the pieces, and answers with the part that names it. Undefined if another request came before. */
async function answerPart(of: Uploads, id: string, { revision, value }: Found) {
  const { files, scope, sources } = of;
  const { length, pieces, about } = value;
  const file = value.file ?? (await join(of, pieces, id, length));
  if (!value.file) {
    const expiresAt = sources.clock.now() + finishedMs;
    if (!(await write(of, id, revision, { ...value, pieces: [], file, expiresAt }))) return undefined;
    await remove(of, `${id}.`);
  }
  await files.ready();
  const body = JSON.stringify(files.partFor(scope, file, about));
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body };
}

/** Stores the bytes of pieces as one file. */
function join({ files, scope }: Uploads, pieces: readonly string[], id: string, length: number) {
  async function* whole(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      const bytes = await files.open(files.keyOf(scope, UPLOADS, piece));
      if (!bytes) throw new A2AError('UNAVAILABLE', 'The upload has ended meanwhile', { retryAfter: 1 });
      yield* bytes;
    }
  }
  return files.save(scope, UPLOADS, whole(), { id, length });
}

const nameOf = ({ scope, sources }: Uploads, id: string): string =>
  recordName('upload', sources.options.queue, scope, id);

function write(of: Uploads, id: string, revision: number, value: Upload): Promise<number | undefined> {
  const options = { ttlMs: Math.max(1, value.expiresAt - of.sources.clock.now()), scope: of.scope };
  return of.sources.store.putRecord(nameOf(of, id), revision, value, options);
}

const remove = ({ files, scope }: Uploads, ids: string) => files.forget(scope, UPLOADS, false, ids);

const stateOf = ({ offset, expiresAt }: Upload): HttpReply['headers'] => ({
  'upload-offset': `${offset}`,
  'upload-expires': new Date(expiresAt).toUTCString(),
});

/** The bytes of a body. Throws `UNSUPPORTED_MEDIA_TYPE` if it is compressed. */
export function bytesIn({ bytes, headers }: HttpExchange): AsyncIterable<Uint8Array> {
  if (bytes && /^(identity)?$/i.test(headers['content-encoding'] ?? '')) return bytes();
  throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'An upload is the bytes of a file as they are');
}

/** What came before the connection broke. */
async function* untilCut(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch {}
}

const pairForm = /^[!-~]+(?: (?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?)?$/;

/** What `Upload-Metadata` says of a file. Throws `INVALID_PARAMS`. */
export function namesIn(metadata = '') {
  const pairs = metadata === '' ? [] : metadata.split(',').map((pair) => pair.trim());
  const names = new Map<string, string | undefined>(pairs.map((pair) => pair.split(' ') as [string, string]));
  if (metadata.length > 2_048 || names.size < pairs.length || !pairs.every((pair) => pairForm.test(pair)))
    throw invalidParams([{ field: 'Upload-Metadata', description: 'is `name base64,…`, 2,048 characters' }]);
  const textOf = (name: string) => fromUtf8(fromBase64(names.get(name) ?? ''));
  return { filename: textOf('filename'), mediaType: textOf('filetype') };
}
