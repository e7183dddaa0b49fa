import { A2AError } from '@batonjs/client';
import { JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { chunksOf, readText } from '@batonjs/protocol/json';
import { parseJson } from '@batonjs/server/adapter';

/** Three programs read the values of a call: this one, its client of the agent, and the agent. */
const maxValues = 20_000;

/**
 * The JSON in the body of a request; undefined if it has none, which the transport refuses. Throws `PAYLOAD_TOO_LARGE`
 * beyond `most` bytes, `PARSE_ERROR`, and `INVALID_REQUEST` for more than 20,000 values or 4,000 different names.
 */
export async function readJson({ method, headers, body }: Request, most: number): Promise<unknown> {
  if (method !== 'POST' || !body || mediaTypeOf(headers.get('content-type')) !== JSON_TYPE) return undefined;
  const text = await readText(chunksOf(body), most);
  if (text === undefined) throw new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${most} bytes`);
  return parseJson(text, { maxValues });
}
