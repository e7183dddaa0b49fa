import { between, pick } from '../../workload/random.ts';
import { bytesOf, type RawRequest } from '../request.ts';
import { mutateBytes } from './mutate-bytes.ts';
import { mutateHttp } from './mutate-http.ts';
import { mutateJson } from './mutate-json.ts';

/** A request that is wrong in one way or several, or at least unusual. */
export function mutate(random: () => number, request: RawRequest): RawRequest {
  let changed = request;
  const ways = request.body ? ['json', 'json', 'json', 'json', 'bytes', 'http', 'http'] : ['http'];
  for (let n = pick(random, [1, 1, 1, 2]); n > 0; n--) {
    const way = pick(random, ways);
    if (way === 'http') changed = mutateHttp(random, changed);
    else
      changed = { ...changed, ...(way === 'json' ? withJson(random, changed) : withBytes(random, changed)) };
  }
  if (random() < 0.03) {
    const length = bytesOf(changed).length;
    changed = {
      ...changed,
      cutAt: between(random, 0, length),
      changes: [...changed.changes, 'hang up'],
      isMangled: true,
    };
  }
  return changed;
}

function withJson(random: () => number, request: RawRequest): Partial<RawRequest> {
  try {
    const { text, changes } = mutateJson(random, request.body?.toString() ?? '{}');
    return { body: Buffer.from(text), changes: [...request.changes, ...changes] };
  } catch {
    // It is no JSON any more.
    return withBytes(random, request);
  }
}

function withBytes(random: () => number, request: RawRequest): Partial<RawRequest> {
  const { bytes, change } = mutateBytes(random, request.body ?? Buffer.alloc(0));
  return { body: bytes, changes: [...request.changes, change] };
}
