import { StreamResponse, schemas } from '@batonjs/protocol';
import { type ErrorRow, errorTable } from '@batonjs/protocol/errors';
import { isOperationName, operations } from '@batonjs/protocol/operations';
import { longestReply } from '../limits.ts';
import type { SocketRequest } from './request.ts';
import { PROBE, type SocketOutcome } from './socket-wire.ts';

/** Thrown for what an answer must not be. */
class Fault extends Error {}

const fail = (message: string): never => {
  throw new Fault(message);
};

type Frame = Readonly<Record<string, unknown>>;

/** The fault in what a server did, in words; undefined if there is none. */
export function checkSocket(request: SocketRequest, outcome: SocketOutcome): string | undefined {
  try {
    if (outcome.kind === 'hung') fail('There was no answer in time');
    if (outcome.kind === 'refused') checkRefusal(request, outcome.status, outcome.body);
    if (outcome.kind === 'open' || outcome.kind === 'closed') checkAnswers(request, outcome);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** The frame that a message is, if it is one. */
function frameIn({ payload }: SocketRequest): Frame | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString());
    return typeof value === 'object' && value !== null ? (value as Frame) : undefined;
  } catch {
    return undefined;
  }
}

function checkRefusal({ headers }: SocketRequest, status: number, body: string): void {
  if (Object.keys(headers).length === 0)
    fail(`The upgrade was refused with ${status}: ${body.slice(0, 200)}`);
  if (![400, 401, 403, 404, 405, 426].includes(status))
    fail(`An upgrade was refused with ${status}: ${body.slice(0, 200)}`);
}

/** The codes with which the server may end a connection after any message, and after one that is none. */
const fatal = [1002, 4001, 4002];
const ofFrames = [1002, 1003, 1005, 1007, 1008, 1009, ...Array.from({ length: 1_000 }, (_, n) => 4_000 + n)];

function checkAnswers(request: SocketRequest, outcome: SocketOutcome & { kind: 'open' | 'closed' }): void {
  const { texts, code } = outcome;
  const frames = texts.map((text) => {
    if (text.length > longestReply) fail(`An answer of ${text.length} characters`);
    return parse(text);
  });
  const sent = frameIn(request);
  const answers = frames.filter(({ id }) => id !== PROBE);
  for (const frame of answers) checkFrame(request, sent, frame);
  const isText = isUtf8(request.payload);
  if (code === undefined) return;
  const isOfFrames = request.isMangled || !isText;
  const isTooLong = request.payload.length > 256 * 1_024 && code === 1009;
  if (!(isOfFrames ? [...fatal, ...ofFrames, 1000, 1006] : fatal).includes(code) && !isTooLong)
    fail(`Closed with ${code}`);
  // The reason is in an answer, unless the message was none.
  if (!isOfFrames && !isTooLong && !answers.some(({ error }) => error))
    fail(`Closed with ${code} without an error`);
}

function checkFrame(request: SocketRequest, sent: Frame | undefined, frame: Frame): void {
  const { jsonrpc, id, result, error, streamEnd } = frame;
  if (jsonrpc !== '2.0') fail('No jsonrpc');
  if (id !== null && !['string', 'number'].includes(typeof id)) fail('No id');
  if (id !== null && sent && id !== sent.id) fail(`The id ${JSON.stringify(id)} is not that of the request`);
  const kinds = [result !== undefined, error !== undefined, streamEnd !== undefined];
  if (kinds.filter(Boolean).length !== 1)
    fail(`Not one of result, error and streamEnd: ${JSON.stringify(frame).slice(0, 200)}`);
  if (error) checkError(error as Frame);
  if (result !== undefined && !request.isMangled) checkResult(sent?.method, frame);
}

function checkResult(method: unknown, { result, version }: Frame): void {
  if (method === 'Authenticate') return;
  const operation =
    typeof method === 'string' && isOperationName(method) ? method : fail('A result of no method');
  const isStream = operations[operation].kind === 'stream';
  if (isStream !== (typeof version === 'string')) fail(`The version ${version}`);
  const parsed = (isStream ? StreamResponse : schemas[operation].result).safeParse(result);
  if (!parsed.success) fail(`No result of ${operation}: ${parsed.error.message.slice(0, 300)}`);
}

function checkError({ code, message, data }: Frame): void {
  if (typeof message !== 'string' || message === '') fail('An error without a message');
  const details = (Array.isArray(data) ? data : fail('An error without details')) as {
    '@type': string;
    reason?: string;
  }[];
  const reason = details.find((detail) => detail['@type'].endsWith('ErrorInfo'))?.reason ?? '';
  const rows = Object.entries<ErrorRow>(errorTable).flatMap(([name, row]) => (name === reason ? [row] : []));
  if (rows.length === 0) fail(`An error of the reason "${reason}"`);
  if (rows.some(({ http }) => http >= 500) && reason !== 'UNAVAILABLE') fail(`${reason}: ${message}`);
  const isOfConnection = code === -32_000 && ['UNAUTHENTICATED', 'RESOURCE_EXHAUSTED'].includes(reason);
  if (!isOfConnection && !rows.some(({ jsonRpc }) => jsonRpc === code))
    fail(`${reason} with the code ${code}`);
}

function parse(text: string): Frame {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Frame;
  } catch {
    // Told below.
  }
  return fail(`No JSON object: ${text.slice(0, 200)}`);
}

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes);
