import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leavesNoTrace, prepare } from '../../../test/kit/http/known-tasks.ts';
import { type Served, secret, serveHttp } from '../../../test/kit/http/serve-http.ts';
import { type Known, wrongSends } from '../../../test/kit/http/wrong-sends.ts';
import { type GrpcListener, listenGrpc } from '../src/index.ts';
import { a2aTypes } from '../src/wire/a2a-service.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { rawClient, refused } from './raw-client.ts';

/** Not wrong over gRPC: of a oneof the last member counts, and half a surrogate pair becomes U+FFFD. */
const cannotBeSaid = new Set([
  'a part with two contents',
  'a part with two contents, one null',
  'a part with all contents',
  'a messageId with half a surrogate pair',
]);

describe('SendMessage over gRPC refuses what JSON-RPC refuses [R-SEND-12] [R-GRPC-74]', () => {
  let served: Served;
  let known: Known;
  let listener: GrpcListener;
  beforeAll(async () => {
    served = await serveHttp();
    known = await prepare(served);
    listener = await listenGrpc(served.server, { port: 0 });
  });
  afterAll(async () => {
    await listener.close({ graceMs: 0 });
    await served.close();
  });

  const rows = wrongSends.filter(({ what }) => !cannotBeSaid.has(what));

  it.each(rows)('$what: $reason', async ({ params, reason, fields = [] }) => {
    const given = typeof params === 'function' ? params(known) : params;
    let bytes: Buffer;
    try {
      bytes = Buffer.from(encodeMessage(a2aTypes.SendMessageRequest, given));
    } catch (problem) {
      // No client can send it: the first field that does not fit is named.
      expect(reason).toBe('INVALID_PARAMS');
      expect(fields).toContain((problem as { field: string }).field);
      return;
    }
    await leavesNoTrace(served, async () => {
      const error = await refused(rawClient(listener.address!).call('SendMessage', bytes));
      expect(error.details[0]).toMatchObject({ reason, domain: 'a2a-protocol.org' });
      const { fieldViolations = [] } = (error.details[1] ?? {}) as { fieldViolations?: { field: string }[] };
      expect(fieldViolations.map(({ field }) => field).sort()).toEqual([...fields].sort());
      expect(JSON.stringify(error)).not.toContain(secret);
    });
  });
});
