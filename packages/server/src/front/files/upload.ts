import type { HttpReply } from '@batonjs/bindings';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { JSON_TYPE } from '@batonjs/protocol/headers';
import { scopeOf } from '../../operations/call/call-context.ts';
import { checkInputModes } from '../../operations/card/media-modes.ts';
import { checkTenant } from '../../operations/card/tenants.ts';
import { UPLOADS } from '../../turns/files/file-key.ts';
import { type ServerFiles, tooLarge } from '../../turns/files/server-files.ts';
import type { AnsweringParts } from '../calls/answer-call.ts';
import { admittedCaller } from '../calls/caller-limits.ts';
import { type HttpExchange, lost } from '../http/request-body.ts';

/**
 * Stores the body as a file of the caller, and answers with the part that names it in a message: `url` is a link. The query
 * says `filename`, `mediaType` and `tenant`. Nothing is kept of a body that ends too early.
 */
export async function upload(
  exchange: HttpExchange,
  parts: AnsweringParts,
  files: ServerFiles,
): Promise<HttpReply> {
  const { query, headers, bytes } = exchange;
  const { admission, tenants, dependencies } = parts;
  const { isOpen, options, card } = dependencies;
  const caller = await admittedCaller(exchange, admission);
  const tenant = query.get('tenant') ?? undefined;
  await checkTenant(tenant, caller, tenants);
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  const filename = query.get('filename') || undefined;
  const mediaType = query.get('mediaType') || undefined;
  if (`${filename}`.length > 256 || `${mediaType}`.length > 256)
    throw invalidParams([{ field: 'filename, mediaType', description: 'have at most 256 characters' }]);
  const about = { url: '', ...(filename && { filename }), ...(mediaType && { mediaType }) };
  checkInputModes(card, { parts: [about] });
  const length = Number(headers['content-length'] ?? -1);
  const { uploadBytes: maxBytes } = files.options;
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (!bytes || !/^(identity)?$/i.test(headers['content-encoding'] ?? ''))
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'An upload is the bytes of a file as they are');
  const scope = scopeOf(options.queue, tenant, caller);
  const file = await files
    .save(scope, UPLOADS, bytes(), { maxBytes, length })
    .catch((error) => lost(error, dependencies.logger, { path: '/files' }));
  await files.ready();
  const body = JSON.stringify(files.partFor(scope, file, about));
  return { status: 201, headers: { 'content-type': JSON_TYPE }, body };
}
