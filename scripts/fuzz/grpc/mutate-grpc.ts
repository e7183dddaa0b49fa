import { between, pick } from '../../workload/random.ts';
import { mutateBytes } from '../mutate/mutate-bytes.ts';
import { mutateJson } from '../mutate/mutate-json.ts';
import { oddText } from '../mutate/odd-values.ts';
import { a2aMethods, encodeMessage } from './messages.ts';
import { framed, type GrpcRequest } from './request.ts';

type Change = (random: () => number, request: GrpcRequest) => Partial<GrpcRequest>;

// biome-ignore format: a table reads best with one row per line
const values: Record<string, readonly string[]> = {
  'content-type': ['application/grpc+proto', 'application/grpc+json', 'application/json', 'text/plain', 'application/grpc;x=y'],
  'a2a-version': ['', '0.3', '1.0.7', '1.1', '2', '1.0, 1.0', '1.00', '__proto__', '-1.0'],
  'a2a-extensions': ['', ',,,', 'https://a.example , https://a.example', '__proto__', 'x'.repeat(3_000), 'https://fuzz.example/extension'],
  'x-a2a-extensions': ['https://fuzz.example/extension', ','],
  'last-event-id': ['', '0', '-1', '1', 'a.b', 'x.999999999', '.', '%00', '9'.repeat(40), 'x.1~2'],
  authorization: ['', 'Bearer', 'Bearer x', 'Basic Og==', 'Bearer a b', 'wrong'],
  'grpc-timeout': ['0n', '1n', '1m', '5S', '99999999H', '-1S', 'S', '1', '123456789S', '1x'],
  'grpc-encoding': ['gzip', 'deflate', 'identity', 'br', '__proto__'],
  'grpc-accept-encoding': ['gzip', 'x', ','],
  'user-agent': ['', 'x'.repeat(1_000)],
  'x-bin': ['AAAA', '====', 'a,b'],
  'grpc-status-details-bin': ['AAAA'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x'],
  cookie: ['a=b; c', '=', ';;;;'],
};

/** Metadata whose value grpc-js reads itself. */
const isOfGrpc = (name: string): boolean => /^(content-type|grpc-.*|.*-bin)$/.test(name);

const kinds: Record<string, Change> = {
  'set metadata': (random, { metadata }) => {
    const [name, several] = pick(random, Object.entries(values));
    const value = random() < 0.8 ? pick(random, several) : printable(oddText(random));
    const rest = metadata.filter(([other]) => other !== name);
    return { metadata: [...rest, [name, value]], isMangled: isOfGrpc(name) };
  },
  'take metadata away': (random, { metadata }) => {
    const [name] = pick(random, metadata);
    return { metadata: metadata.filter(([other]) => other !== name), isMangled: isOfGrpc(name) };
  },
  'repeat metadata': (random, { metadata }) => {
    const some = metadata.filter(([name]) => name !== 'content-type');
    if (some.length === 0) return {};
    const [name, value] = pick(random, some);
    return { metadata: [...metadata, [name, random() < 0.5 ? value : pick(random, values[name] ?? ['x'])]] };
  },
  'much metadata': (random, { metadata }) => ({
    metadata: [
      ...metadata,
      ...Array.from({ length: pick(random, [50, 100, 3_000]) }, (_, n) => [`x-${n}`, 'y'] as const),
    ],
    isMangled: true,
  }),
  'another path': (random, { path }) => ({
    path: pick(random, [
      '/lf.a2a.v1.A2AService/Toast',
      '/lf.a2a.v1.A2AService/sendMessage',
      '/lf.a2a.v1.A2AService/',
      '/a2a.v1.A2AService/SendMessage',
      '/lf.a2a.v1.A2AService/__proto__',
      '/constructor',
      '/',
      `${path}/`,
      `${path}?tenant=a`,
      `/${path}`,
      'é',
    ]),
    isMangled: true,
  }),
  'another operation': (random) => ({ path: pick(random, a2aMethods).path }),
  'another flag': (random, { message }) => ({
    frames: framed(message, { flag: pick(random, [1, 2, 255]) }),
    isMangled: true,
  }),
  'another length': (random, { message }) => ({
    frames: framed(message, {
      length: pick(random, [0, Math.max(0, message.length - 1), message.length + 5, 2 ** 32 - 1]),
    }),
    isMangled: true,
  }),
  'several messages': (random, { message }) => ({
    frames: Buffer.concat(Array.from({ length: pick(random, [2, 3, 100]) }, () => framed(message))),
    isMangled: true,
  }),
  'no message': () => ({ frames: Buffer.alloc(0), isMangled: true }),
  'bytes after the message': (random, { message }) => ({
    frames: Buffer.concat([framed(message), Buffer.alloc(between(random, 1, 9), 7)]),
    isMangled: true,
  }),
};

/** Bytes that may stand in metadata. */
const printable = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]/g, '?')
    .trim()
    .slice(0, 2_000);

/** Changes that only bytes can have. */
const wireKinds: Record<string, (random: () => number, message: Buffer) => Buffer> = {
  'put a field around it': (random, message) => inField(between(random, 1, 16), message),
  'a field that is not known': (random, message) =>
    Buffer.concat([inField(between(random, 100, 2_000), message.subarray(0, 50)), message]),
  'another wire type': (random, message) => {
    const copy = Buffer.from(message);
    if (copy.length > 0) copy[0] = (copy[0]! & 0xf8) | between(random, 0, 7);
    return copy;
  },
  'groups in groups': (random, message) =>
    Buffer.concat([
      message,
      Buffer.alloc(pick(random, [1, 100, 10_000, 100_000]), pick(random, [0x0b, 0x0c])),
    ]),
  'values in values': (random, message) => {
    let value: Buffer = Buffer.from([8, 0]);
    for (let level = pick(random, [1, 29, 31, 200, 2_000]); level > 0; level -= 1)
      value = inField(6, inField(1, value));
    return Buffer.concat([message, inField(2, inField(5, inField(4, value)))]);
  },
};

function inField(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.from(bytes);
  }
}

/** A request that is wrong in one way or several, or at least unusual. `params` are what its message was made of. */
export function mutateGrpc(random: () => number, request: GrpcRequest, params: unknown): GrpcRequest {
  let changed = request;
  for (let n = pick(random, [1, 1, 1, 2]); n > 0; n--) {
    const way = pick(random, ['json', 'json', 'json', 'bytes', 'bytes', 'wire', 'grpc', 'grpc']);
    if (way === 'json') changed = withJson(random, changed, params);
    else if (way === 'bytes') changed = withBytes(random, changed);
    else {
      const table = way === 'wire' ? wireKinds : kinds;
      const name = pick(random, Object.keys(table));
      const change =
        way === 'wire'
          ? { message: wireKinds[name]!(random, changed.message) }
          : kinds[name]!(random, changed);
      changed = {
        ...changed,
        ...change,
        isMangled: changed.isMangled || change.isMangled === true,
        changes: [...changed.changes, name],
      };
    }
  }
  if (random() >= 0.03) return changed;
  const length = changed.frames?.length ?? changed.message.length + 5;
  const changes = [...changed.changes, 'hang up'];
  return { ...changed, cutAt: between(random, 0, length), changes, isMangled: true };
}

/** Other values, as far as they fit into the message; other bytes if they do not. */
function withJson(random: () => number, request: GrpcRequest, params: unknown): GrpcRequest {
  const { text, changes } = mutateJson(random, JSON.stringify(params));
  try {
    const type = a2aMethods.find(({ operation }) => operation === request.operation)!.request;
    const message = Buffer.from(encodeMessage(type, JSON.parse(text)));
    return { ...request, message, changes: [...request.changes, ...changes] };
  } catch {
    return withBytes(random, request);
  }
}

function withBytes(random: () => number, request: GrpcRequest): GrpcRequest {
  const { bytes, change } = mutateBytes(random, request.message);
  return { ...request, message: bytes, changes: [...request.changes, change] };
}
