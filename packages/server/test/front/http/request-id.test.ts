import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { reply } from '../../../src/index.ts';

const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  serve(({ text }) => reply(text), {
    authenticate: ({ headers: sent }) => (sent.refused ? undefined : { scope: 'ada' }),
  }).fetch(
    new Request(`http://localhost${path}`, { ...init, headers: { 'a2a-version': '1.0', ...headers } }),
  );

describe('the id of a request', () => {
  it.each(['req-1', 'a/b+c=d~e.f:g@h_1', 'x'.repeat(128)])('is the one that it brings: %s', async (id) => {
    expect((await ask('/tasks', { 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
  });

  it.each([
    ['nothing', ''],
    ['more than 128 characters', 'x'.repeat(129)],
    ['a space', 'a b'],
    ['two headers', 'a, b'],
    ['what could end a line of a log', 'a\u0085b'],
    ['a quote', 'a"b'],
    ['markup', '<b>'],
  ])('is a new one where it brings %s', async (_, id) => {
    const [one, two] = [
      await ask('/tasks', { 'x-request-id': id }),
      await ask('/tasks', { 'x-request-id': id }),
    ];
    const given = [one, two].map(({ headers }) => headers.get('x-request-id'));
    for (const own of given) expect(own).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(given[0]).not.toBe(given[1]);
  });

  it.each([
    ['a refused caller', '/tasks', { refused: 'yes' }, 401],
    ['a path where nothing is', '/none', {}, 404],
    ['a version that is not served', '/tasks', { 'a2a-version': '9.9' }, 400],
  ])('is in the answer to %s', async (_, path, headers, status) => {
    const response = await ask(path, { ...headers, 'x-request-id': 'req-1' } as Record<string, string>);
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, 'req-1']);
  });

  it('is in the answer that is a stream', async () => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const headers = { 'x-request-id': 'req-1', 'content-type': 'application/json' };
    const response = await ask('/message:stream', headers, {
      method: 'POST',
      body: JSON.stringify({ message }),
    });
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    expect(response.headers.get('x-request-id')).toBe('req-1');
  });

  it('is not in the public card, which caches share', async () => {
    const response = await ask('/.well-known/agent-card.json', { 'x-request-id': 'req-1' });
    expect(response.headers.get('x-request-id')).toBeNull();
  });
});

it('the error of an agent has the id of the request that began the task', async () => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const fail = () => Promise.reject(new Error('out of paper'));
  const server = serve(fail, { logger: (_level, _message, details) => lines.push(details) });
  const { task } = await rpc(server, 'SendMessage', { message: say('print') }, { 'x-request-id': 'req-1' });
  expect(lines).toMatchObject([{ taskId: task.id, requestId: 'req-1', err: { message: 'out of paper' } }]);
});
