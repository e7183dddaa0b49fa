import { pick } from '../../workload/random.ts';
import type { Road, Told } from '../road.ts';
import type { Served } from '../served.ts';
import { type Known, validCall } from '../valid-request.ts';
import { checkSocket } from './check-socket.ts';
import { mutateSocket } from './mutate-socket.ts';
import { bytesOf, type SocketRequest } from './request.ts';
import { type SocketOutcome, sendOnSocket } from './socket-wire.ts';

/** Requests over WebSocket, whose frames need not be written as a client would. */
export function webSocketRoad({ socketPort }: Pick<Served, 'socketPort'>, hungMs: number): Road {
  async function send(request: SocketRequest): Promise<Told> {
    const outcome = await sendOnSocket(socketPort, request, hungMs);
    const { headers, changes } = request;
    return {
      kind: kindOf(outcome),
      message: checkSocket(request, outcome),
      isUnavailable:
        ('texts' in outcome && outcome.texts.some((text) => text.includes('UNAVAILABLE'))) ||
        (outcome.kind === 'refused' && outcome.status === 503),
      request: `${changes.join(', ')}: ${JSON.stringify([headers, bytesOf({ ...request, isMasked: false }).toString('latin1')])}`,
    };
  }

  return {
    sendMutated: (random, known) => send(mutatedSocketRequest(random, known)),
    sendValid: (random, known) => send(validSocketRequest(random, known)),
    close() {},
  };
}

/** A request that is wrong in one way or several, or at least unusual. */
export const mutatedSocketRequest = (random: () => number, known: Known): SocketRequest =>
  mutateSocket(random, validSocketRequest(random, known));

function validSocketRequest(random: () => number, known: Known): SocketRequest {
  const { operation: method, params } = validCall(random, known);
  const id = pick(random, [1, 'r', 0, -7, '']);
  const serviceParams = { 'a2a-version': '1.0' };
  const frame = pick<object>(random, [
    ...Array(9).fill({ jsonrpc: '2.0', id, method, params, serviceParams }),
    { jsonrpc: '2.0', id, cancelStream: true },
    { jsonrpc: '2.0', id, method: 'Authenticate', params: { scheme: 'Bearer', credentials: 'x' } },
  ]);
  return {
    payload: Buffer.from(JSON.stringify(frame)),
    opcodes: [1],
    isMasked: true,
    reserved: 0,
    headers: {},
    changes: [],
    isMangled: false,
  };
}

/** What an outcome is counted as: the code of its error, what it was otherwise, or how the connection ended. */
function kindOf(outcome: SocketOutcome): string {
  if (outcome.kind === 'refused') return `refused ${outcome.status}`;
  if (!('texts' in outcome)) return outcome.kind;
  const codes = outcome.texts.map((text) => /"error":\{"code":(-\d+)/.exec(text)?.[1]).filter(Boolean);
  if (codes.length > 0) return codes[0]!;
  return outcome.kind === 'closed' ? `closed ${outcome.code}` : 'answered';
}
