import { readFileSync } from 'node:fs';
import { A2AError } from '@batonjs/protocol/errors';
import { operationNames } from '@batonjs/protocol/operations';
import { describe, expect, it } from 'vitest';
import { type Call, decodeSse, encodeSse, SharedJson } from '../src/index.ts';
import { answer, baseUrl, bindings, receive } from './exchange.ts';

/** A call with what it is answered with: a result, or the events of a stream. */
interface GoldenCall {
  readonly operation: Call['operation'];
  readonly params: Call['params'];
  readonly result?: unknown;
  readonly events?: readonly unknown[];
}

const calls = JSON.parse(readFileSync(new URL('golden/calls.json', import.meta.url), 'utf8')) as GoldenCall[];

it('has a golden call for every operation', () => {
  expect(calls.map(({ operation }) => operation)).toEqual(operationNames);
});

describe.each(bindings)('$name on the wire', ({ name, server, client }) => {
  const folder = name === 'JSONRPC' ? 'json-rpc' : 'http-json';

  /** Method and URL, the headers, and the body: what a person would read off the network. */
  const print = (first: string, headers: Record<string, string>, body = '') =>
    [first, ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`), '', body]
      .join('\n')
      .trimEnd();

  it.each(calls)('$operation is what the golden file says, and reads as it was meant', async (golden) => {
    const { operation, params, result, events } = golden;
    const call: Call = { operation, params, id: 7 };
    const outgoing = client.encodeCall(call, baseUrl);
    const received = server.decodeCall(receive(outgoing));
    expect(received).toMatchObject({ operation, params });

    const request = print(`${outgoing.method} ${outgoing.url}`, outgoing.headers, outgoing.body);
    let reply: string;
    if (events) {
      reply = events
        .map((event) => encodeSse({ data: server.encodeStream(received).event(new SharedJson(event)) }))
        .join('');
      const decoded: unknown[] = [];
      for await (const { data } of decodeSse(new Blob([reply]).stream()))
        decoded.push(client.decodeEvent(call, data));
      expect(decoded).toEqual(events);
    } else {
      const { status, headers, body } = server.encodeResult(received, result);
      reply = print(String(status), headers, body as string);
      expect(client.decodeReply(call, answer({ status, headers, body }))).toEqual(result);
    }
    await expect(`${request}\n\n${reply.trimEnd()}\n`).toMatchFileSnapshot(
      `golden/${folder}/${operation}.http`,
    );
  });

  it('an error is what the golden file says, before and in a stream', async () => {
    const received = server.decodeCall(
      receive(client.encodeCall({ operation: 'GetTask', params: { id: 't-1' }, id: 7 }, baseUrl)),
    );
    const error = new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: 't-1' } });
    const { status, headers, body } = server.encodeError(error, received.request);
    const inStream = encodeSse({ data: server.encodeStream(received).error(error) });
    const text = `${print(`${status}`, headers, body as string)}\n\n${inStream}`.trimEnd();
    await expect(`${text}\n`).toMatchFileSnapshot(`golden/${folder}/error.http`);
  });
});
