import { between, pick } from '../../workload/random.ts';
import { mutateBytes } from '../mutate/mutate-bytes.ts';
import { mutateJson } from '../mutate/mutate-json.ts';
import { oddText } from '../mutate/odd-values.ts';
import type { SocketRequest } from './request.ts';

/** A request that is wrong in one way or several, or at least unusual. */
export function mutateSocket(random: () => number, request: SocketRequest): SocketRequest {
  let changed = request;
  for (let n = pick(random, [1, 1, 1, 2]); n > 0; n--) {
    const way = pick(random, ['json', 'json', 'json', 'json', 'bytes', 'frames', 'headers']);
    if (way === 'json') changed = withJson(random, changed);
    else if (way === 'bytes') changed = withBytes(random, changed);
    else if (way === 'frames') changed = withFrames(random, changed);
    else changed = withHeaders(random, changed);
  }
  if (random() > 0.03) return changed;
  const cutAt = between(random, 0, changed.payload.length + 8);
  return { ...changed, cutAt, changes: [...changed.changes, 'hang up'], isMangled: true };
}

function withJson(random: () => number, request: SocketRequest): SocketRequest {
  try {
    const { text, changes } = mutateJson(random, request.payload.toString());
    return { ...request, payload: Buffer.from(text), changes: [...request.changes, ...changes] };
  } catch {
    // It is no JSON any more.
    return withBytes(random, request);
  }
}

function withBytes(random: () => number, request: SocketRequest): SocketRequest {
  const { bytes, change } = mutateBytes(random, request.payload);
  return { ...request, payload: bytes, changes: [...request.changes, change] };
}

type Change = (random: () => number, request: SocketRequest) => Partial<SocketRequest>;

const frames: Record<string, Change> = {
  'in fragments': (random) => ({ opcodes: [1, ...Array(between(random, 1, 9)).fill(0)] }),
  'in many fragments': () => ({ opcodes: [1, ...Array(300).fill(0)] }),
  binary: () => ({ opcodes: [2], isMangled: true }),
  'of another opcode': (random) => ({ opcodes: [between(random, 0, 15)], isMangled: true }),
  'of several opcodes': (random) => ({
    opcodes: Array.from({ length: between(random, 2, 4) }, () => between(random, 0, 15)),
    isMangled: true,
  }),
  'without a mask': () => ({ isMasked: false, isMangled: true }),
  'with reserved bits': (random) => ({ reserved: pick(random, [0x10, 0x20, 0x40, 0x70]), isMangled: true }),
  'of another length': (random, { payload }) => ({
    claimed: pick(random, [0, payload.length + 1, 125, 65_535, 2 ** 31, 2 ** 52]),
    isMangled: true,
  }),
};

function withFrames(random: () => number, request: SocketRequest): SocketRequest {
  const [name, change] = pick(random, Object.entries(frames));
  return { ...request, ...change(random, request), changes: [...request.changes, name] };
}

function withHeaders(random: () => number, request: SocketRequest): SocketRequest {
  const name = pick(random, [
    'a2a-version',
    'a2a-extensions',
    'authorization',
    'origin',
    'last-event-id',
    'sec-websocket-protocol',
    'sec-websocket-extensions',
    'sec-websocket-key',
    'sec-websocket-version',
    'upgrade',
  ]);
  // Node.js itself refuses other characters in headers.
  const text = oddText(random).replace(/[^\x21-\x7e]/g, '') || 'x';
  const value = pick(random, [text, text, 'wrong', 'permessage-deflate', 'null']);
  const headers = { ...request.headers, [name]: value.slice(0, 1_000) };
  return { ...request, headers, changes: [...request.changes, `${name}: ${value.slice(0, 40)}`] };
}
