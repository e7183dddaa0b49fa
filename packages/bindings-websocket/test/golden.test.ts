import { readFileSync } from 'node:fs';
import { SharedJson } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import { describe, expect, it } from 'vitest';
import { webSocketClient } from '../src/index.ts';
import {
  CONNECTION_ERROR,
  encodeEnd,
  encodeError,
  encodeEvent,
  encodeReauthentication,
  encodeResult,
  readAnswer,
} from '../src/wire/answer-frame.ts';
import { readRequest } from '../src/wire/request-frame.ts';
import { foreign } from './foreign.ts';

/** A call with what it is answered with: those of the other bindings. */
interface GoldenCall {
  readonly operation: OperationName;
  readonly params: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly events?: readonly unknown[];
}

const calls = JSON.parse(
  readFileSync(new URL('../../bindings/test/golden/calls.json', import.meta.url), 'utf8'),
) as GoldenCall[];

/** The frame that the client sends for a call. */
async function sentFor({ operation, params, events }: GoldenCall): Promise<string> {
  const sent = Promise.withResolvers<string>();
  const url = await foreign((frame) => sent.resolve(JSON.stringify(frame)));
  const client = webSocketClient();
  const left = new AbortController();
  const headers = {
    'a2a-version': '1.0',
    ...(operation === 'SubscribeToTask' && { 'last-event-id': 'log.7~c' }),
    ...(operation === 'SendMessage' && { 'a2a-extensions': 'https://example.com/extension' }),
  };
  const request = { url, headers, signal: left.signal, maxBytes: 1_000_000 };
  const call = { operation, params };
  const answered = events
    ? client.stream(call, request)[Symbol.asyncIterator]().next()
    : client.call(call, request);
  answered.catch(() => {});
  const frame = await sent.promise;
  left.abort();
  client.close();
  return frame;
}

describe('frames [R-WS-12] [R-WS-13] [R-CB-02]', () => {
  it.each(calls)('of $operation are what the golden file says', async (golden) => {
    const { operation, params, result, events } = golden;
    const request = await sentFor(golden);
    const read = readRequest(JSON.parse(request));
    expect(read).toMatchObject({ kind: 'call', id: 1, operation });
    expect(read.kind === 'call' && read.readParams()).toEqual(params);
    const answers = events
      ? [
          ...events.map((event, at) => encodeEvent('1', new SharedJson(event), `log.${at + 1}~c`)),
          encodeEnd('1'),
        ]
      : [encodeResult(1, result)];
    for (const [at, answer] of answers.entries())
      expect(readAnswer(answer)).toEqual(
        events?.[at]
          ? { kind: 'result', id: 1, result: events[at], position: `log.${at + 1}~c` }
          : events
            ? { kind: 'end', id: 1 }
            : { kind: 'result', id: 1, result, position: undefined },
      );
    await expect(`${[request, ...answers].join('\n')}\n`).toMatchFileSnapshot(`golden/${operation}.jsonl`);
  });

  it('of everything else are what the golden file says [R-WS-15] [R-WS-17] [R-WS-19] [R-WS-35]', async () => {
    const extensions = ['https://example.com/extension'];
    const text = [
      JSON.stringify({ jsonrpc: '2.0', id: 1, cancelStream: true }),
      JSON.stringify({
        jsonrpc: '2.0',
        id: 2,
        method: 'Authenticate',
        params: { scheme: 'Bearer', credentials: 'a-new-token' },
      }),
      encodeResult('r', {}, extensions),
      encodeEvent('"r"', new SharedJson({ message: {} }), 'log.1~c', extensions),
      encodeError(1, new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: 't-1' } })),
      encodeError(null, new A2AError('PARSE_ERROR')),
      encodeError(
        null,
        new A2AError('RESOURCE_EXHAUSTED', 'Rate limit exceeded', { retryAfter: 1 }),
        CONNECTION_ERROR,
      ),
      encodeError(7, new A2AError('UNAUTHENTICATED', undefined, { challenge: 'Bearer' }), CONNECTION_ERROR),
      encodeReauthentication('Authentication required', 5_000),
    ];
    await expect(`${text.join('\n')}\n`).toMatchFileSnapshot('golden/others.jsonl');
  });
});
