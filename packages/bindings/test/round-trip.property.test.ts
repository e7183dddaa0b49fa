import { A2AError, type ErrorReason, errorTable } from '@batonjs/protocol/errors';
import { type OperationName, operationNames, operations } from '@batonjs/protocol/operations';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Call, SharedJson } from '../src/index.ts';
import { answer, baseUrl, bindings, receive } from './exchange.ts';

const text = fc
  .oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom('a/b', 'x:cancel', '%2F', '..x', 'ä ü', 't?a=b#c', 'tasks'),
  )
  .filter((value) => value !== '.' && value !== '..');
const names = fc.string().filter((name) => name !== '__proto__');
// As it comes out of a parser: no minus zero, and no members named `__proto__`, which are dropped on arrival.
const json = fc
  .jsonValue({ maxDepth: 4 })
  .map(
    (value) =>
      JSON.parse(JSON.stringify(value), (name, member) =>
        name === '__proto__' ? undefined : member,
      ) as unknown,
  );
const byType = {
  string: text,
  integer: fc.integer(),
  boolean: fc.boolean(),
  // An empty list is none in a query.
  strings: fc.array(text, { minLength: 1, maxLength: 3 }),
};

/** Any call of an operation, made from the table alone. */
function callOf(operation: OperationName): fc.Arbitrary<Call> {
  const row = operations[operation];
  const inPath = [...row.http[0].matchAll(/\{(\w+)\}/g)].map(([, field]) => field!);
  const query = Object.entries('query' in row ? row.query : {}).map(([field, type]) => [field, byType[type]]);
  const body = row.http[0].startsWith('POST') ? { message: json, configuration: json, metadata: json } : {};
  const members = {
    tenant: text.filter((tenant) => tenant !== 'tasks'),
    ...Object.fromEntries(query),
    ...body,
    ...Object.fromEntries(inPath.map((field) => [field, text])),
  };
  const params = fc.record(members, { requiredKeys: inPath as never[], noNullPrototype: true });
  return fc.record({
    operation: fc.constant(operation),
    params,
    id: fc.oneof(fc.string(), fc.maxSafeInteger()),
  }) as fc.Arbitrary<Call>;
}

const calls = fc.oneof(...operationNames.map(callOf));

describe.each(bindings)('$name', ({ name, server, client }) => {
  it.each(operationNames)('decodes every call of %s as it was encoded [R-BIND-01]', (operation) => {
    fc.assert(
      fc.property(callOf(operation), (call) => {
        const { alternative, ...first } = client.encodeCall(call, baseUrl);
        for (const outgoing of alternative ? [first, alternative] : [first]) {
          const { request: _, ...decoded } = server.decodeCall(receive(outgoing));
          // HTTP+JSON carries no ids, and the body of a GET is empty.
          const { id: __, ...expected } = call;
          if (outgoing !== alternative) expect(decoded).toEqual(name === 'JSONRPC' ? call : expected);
          else expect(decoded.params).toMatchObject({ id: call.params.id });
        }
      }),
    );
  });

  it('decodes every result and every event as it was encoded', () => {
    fc.assert(
      fc.property(calls, fc.dictionary(names, json, { noNullPrototype: true }), (call, value) => {
        // On HTTP+JSON an `error` member is what makes an event an error; no result of A2A has one.
        const { error: _, ...result } = value;
        const received = server.decodeCall(receive(client.encodeCall(call, baseUrl)));
        const plain = JSON.parse(JSON.stringify(result)) as unknown;
        expect(client.decodeReply(call, answer(server.encodeResult(received, result)))).toEqual(plain);
        expect(client.decodeEvent(call, server.encodeStream(received).event(new SharedJson(result)))).toEqual(
          plain,
        );
      }),
    );
  });

  const reasons = Object.keys(errorTable) as ErrorReason[];
  it.each(reasons)('carries %s with its message, metadata and details [R-ERR-03, R-ERR-04]', (reason) => {
    const call: Call = { operation: 'GetTask', params: { id: 't-1' }, id: 7 };
    const received = server.decodeCall(receive(client.encodeCall(call, baseUrl)));
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.Help', links: [{ url: 'https://x.example' }] },
    ];
    for (const error of [
      new A2AError(reason),
      new A2AError(reason, 'What happened', { metadata: { taskId: 't-1' }, details }),
    ]) {
      const { message, metadata } = error;
      const expected = expect.objectContaining({
        reason,
        message,
        metadata,
        details: error.details,
      });
      const reply = answer(server.encodeError(error, received.request));
      expect(() => client.decodeReply(call, reply)).toThrow(expected);
      expect(() => client.decodeEvent(call, server.encodeStream(received).error(error))).toThrow(expected);
    }
  });

  it('carries Retry-After in seconds, rounded up', () => {
    const call: Call = { operation: 'GetTask', params: { id: 't-1' } };
    const { request } = server.decodeCall(receive(client.encodeCall(call, baseUrl)));
    const reply = server.encodeError(new A2AError('UNAVAILABLE', undefined, { retryAfter: 1.2 }), request);
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    expect(() => client.decodeReply(call, answer(reply))).toThrow(
      expect.objectContaining({ retryAfter: 2, details: [] }),
    );
    const { 'retry-after': _, ...headers } = reply.headers;
    expect(() => client.decodeReply(call, answer({ ...reply, headers }))).toThrow(
      expect.objectContaining({ retryAfter: 2 }),
    );
  });

  it('shows nothing of an unexpected error [R-ERR-11]', () => {
    const call: Call = { operation: 'GetTask', params: { id: 't-1' } };
    const received = server.decodeCall(receive(client.encodeCall(call, baseUrl)));
    const error = A2AError.from(new Error('password=hunter2'));
    expect(JSON.stringify(server.encodeError(error, received.request))).not.toContain('hunter2');
    expect(server.encodeStream(received).error(error)).not.toContain('hunter2');
  });
});
