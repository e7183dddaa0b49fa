import { readFileSync } from 'node:fs';
import { A2AError } from '@batonjs/protocol/errors';
import { completed } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { telemetry } from '@batonjs/telemetry';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { attributesOfAddress, attributesOfResult, errorType } from '../src/read-attributes.ts';
import { linkTo } from '../src/with-trace.ts';

describe('without an SDK', () => {
  it('nothing is recorded, and tasks run as before [R-OTEL-41]', async () => {
    const store = memoryStore();
    const server = serve(
      async function* ({ step }) {
        yield completed(await step('a', () => 'done'));
      },
      { telemetry: telemetry(), store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

it('the package needs the interface of OpenTelemetry only, of any 1.x from 1.9 on [R-OTEL-40]', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(manifest.peerDependencies).toEqual({ '@opentelemetry/api': '>=1.9 <2' });
  expect(Object.keys(manifest.dependencies).filter((name) => !name.startsWith('@batonjs/'))).toEqual([]);
});

describe('an address', () => {
  it.each([
    ['https://agents.example/expense', 'agents.example', 443],
    ['http://agents.example', 'agents.example', 80],
    ['wss://agents.example/ws', 'agents.example', 443],
    ['ws://127.0.0.1:8080/ws', '127.0.0.1', 8080],
    ['https://agents.example:8443/', 'agents.example', 8443],
    ['127.0.0.1:50051', '127.0.0.1', 50051],
    ['agents.example:443', 'agents.example', 443],
    ['grpcs://agents.example', 'agents.example', undefined],
    ['not an address', undefined, undefined],
    [undefined, undefined, undefined],
  ])('%s is the host %s and the port %s [R-OTEL-20]', (address, host, port) => {
    const { 'server.address': found, 'server.port': at } = attributesOfAddress(address);
    expect([found, at]).toEqual([host, port]);
  });
});

describe('a stored traceparent', () => {
  const id = 'a'.repeat(32);
  const span = 'b'.repeat(16);
  it.each([
    [undefined, undefined],
    ['', undefined],
    [`00-${'0'.repeat(32)}-${span}-01`, undefined],
    [`00-${id}-${'0'.repeat(16)}-01`, undefined],
    [`01-${id}-${span}-01`, undefined],
    [`00-${id}-${span}-01-x`, undefined],
    [`00-${id.toUpperCase()}-${span}-01`, undefined],
    [`00-${id}-${span}-01`, { traceId: id, spanId: span, traceFlags: 1, isRemote: true }],
    [`00-${id}-${span}-00`, { traceId: id, spanId: span, traceFlags: 0, isRemote: true }],
  ])('%s becomes the link %o, or none [R-OTEL-60]', (traceparent, expected) => {
    expect(linkTo(traceparent)?.context).toEqual(expected);
  });
});

describe('what a result says', () => {
  const status = { state: 'TASK_STATE_WORKING' };
  const known = { 'a2a.task.id': 't', 'gen_ai.conversation.id': 'c', 'a2a.task.state': 'TASK_STATE_WORKING' };
  it.each([
    [{ id: 't', contextId: 'c', status }, known],
    [{ task: { id: 't', contextId: 'c', status } }, known],
    [{ statusUpdate: { taskId: 't', contextId: 'c', status } }, known],
    [
      { artifactUpdate: { taskId: 't', contextId: 'c', artifact: {} } },
      { ...known, 'a2a.task.state': undefined },
    ],
    [{ message: { contextId: 'c', messageId: 'm' } }, { 'gen_ai.conversation.id': 'c' }],
    [{ tasks: [] }, {}],
    [undefined, {}],
    ['text', {}],
    [null, {}],
  ])('%j', (result, expected) => {
    expect(attributesOfResult(result)).toEqual(
      Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)),
    );
  });

  it.each([
    [new A2AError('TASK_NOT_FOUND'), 'TASK_NOT_FOUND'],
    [Object.assign(new Error('x'), { reason: 'blocked' }), 'Error'],
    [
      Object.assign(new Error('x'), { reason: 'IBAN DE89 of Ada is blocked', code: 'ECONNRESET' }),
      'ECONNRESET',
    ],
    [Object.assign(new TypeError('x'), { code: 'Ada owes 5' }), 'TypeError'],
    [Object.assign(new TypeError('x'), { code: 42 }), 'TypeError'],
    [Object.assign(new Error('x'), { code: 'a'.repeat(64) }), 'a'.repeat(64)],
    [Object.assign(new Error('x'), { code: 'a'.repeat(65), name: 'of Ada' }), '_OTHER'],
    [new TypeError('x'), 'TypeError'],
    ['thrown text', '_OTHER'],
    [undefined, '_OTHER'],
  ])('the error %o has the kind %s', (error, expected) => {
    expect(errorType(error)).toBe(expected);
  });
});
