import { StreamResponse, schemas } from '@batonjs/protocol';
import { type ErrorRow, errorTable } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import { status } from '@grpc/grpc-js';
import { longestReply } from '../limits.ts';
import type { GrpcOutcome, GrpcReply } from './grpc-wire.ts';
import { a2aMethods, decodeDetails, decodeMessage } from './messages.ts';
import type { GrpcRequest } from './request.ts';

/** Thrown for what a reply must not be. */
class Fault extends Error {}

const fail = (message: string): never => {
  throw new Fault(message);
};

/** The fault in what a server did, in words; undefined if there is none. */
export function checkGrpc(request: GrpcRequest, outcome: GrpcOutcome): string | undefined {
  try {
    if (outcome.kind === 'hung') fail('There was no reply in time');
    if (outcome.kind === 'closed' && !request.isMangled) fail('The server reset the stream');
    if (outcome.kind === 'stream') checkMessages(request, outcome.reply, false);
    if (outcome.kind === 'reply') checkReply(request, outcome.reply);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** The name of the status of a reply. */
export const statusOf = ({ headers, trailers }: GrpcReply): string =>
  status[Number(trailers['grpc-status'])] ?? `HTTP ${headers[':status']}`;

function checkReply(request: GrpcRequest, reply: GrpcReply): void {
  const { headers, trailers } = reply;
  const http = Number(headers[':status']);
  if (http !== 200) {
    // What grpc-js answers to what is no gRPC.
    if (!(request.isMangled && [400, 404, 405, 415].includes(http))) fail(`Status ${http} of HTTP`);
    return;
  }
  const code = Number(trailers['grpc-status']);
  if (status[code] === undefined) fail(`The status ${trailers['grpc-status']}`);
  if (code === status.OK) {
    checkMessages(request, reply, true);
    return;
  }
  const details = trailers['grpc-status-details-bin'];
  if (details === undefined)
    checkOwnStatus(request, code, decodeURIComponent(String(trailers['grpc-message'])));
  else checkError(code, String(trailers['grpc-message'] ?? ''), Buffer.from(String(details), 'base64'));
}

/** Statuses of grpc-js itself have no details. */
function checkOwnStatus({ isMangled }: GrpcRequest, code: status, message: string): void {
  if (code === status.RESOURCE_EXHAUSTED && message.includes('larger than max')) return;
  const isOfGrpc = [
    status.UNIMPLEMENTED,
    status.DEADLINE_EXCEEDED,
    status.CANCELLED,
    status.RESOURCE_EXHAUSTED,
    status.INTERNAL,
    status.OUT_OF_RANGE,
  ].includes(code);
  if (!isMangled || !isOfGrpc) fail(`${status[code]} without details: ${message.slice(0, 300)}`);
}

function checkError(code: status, message: string, packed: Buffer): void {
  if (message === '') fail('An error without a message');
  if (packed.length > 8_192) fail(`${packed.length} bytes of details`);
  const details = decodeDetails(packed) as { '@type': string; reason?: string }[];
  const reason = details.find((detail) => detail['@type'].endsWith('ErrorInfo'))?.reason ?? '';
  const rows = Object.entries<ErrorRow>(errorTable).flatMap(([name, row]) => (name === reason ? [row] : []));
  if (rows.length === 0) fail(`An error of the reason "${reason}"`);
  if (rows.some(({ http }) => http >= 500)) fail(`${reason}: ${decodeURIComponent(message)}`);
  if (!rows.some((row) => status[row.status] === code)) fail(`${reason} with the status ${status[code]}`);
}

function checkMessages({ path, isMangled }: GrpcRequest, { body }: GrpcReply, isWhole: boolean): void {
  const method = a2aMethods.find((other) => other.path === path);
  if (!method) {
    if (!isMangled) fail('A result of no method');
    return;
  }
  const messages = messagesIn(body, isWhole);
  if (!method.isStream && isWhole && messages.length !== 1) fail(`${messages.length} messages`);
  for (const message of messages) {
    if (message.length > longestReply) fail(`A message of ${message.length} bytes`);
    checkMessage(method.operation, decodeMessage(method.response, message), method.isStream);
  }
}

function messagesIn(body: Buffer, isWhole: boolean): Buffer[] {
  const messages: Buffer[] = [];
  let at = 0;
  while (at + 5 <= body.length) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if (body[at] !== 0) fail(`A message with the flag ${body[at]}`);
    if (end > body.length) break;
    messages.push(body.subarray(at + 5, end));
    at = end;
  }
  if (isWhole && at !== body.length) fail('Half a message');
  return messages;
}

function checkMessage(operation: OperationName, value: unknown, isStream: boolean): void {
  const schema = isStream ? StreamResponse : schemas[operation].result;
  const parsed = schema.safeParse(value);
  if (!parsed.success) fail(`No result of ${operation}: ${parsed.error.message.slice(0, 300)}`);
}
