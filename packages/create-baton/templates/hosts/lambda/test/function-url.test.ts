import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { memoryStore } from '@batonjs/store-memory';
import { answerUrl, type UrlEvent } from '../src/function-url.ts';
import { serverOn } from '../src/server.ts';

/** Calls the agent as a function URL does. */
async function call(event: Partial<UrlEvent>, method: string) {
  const server = serverOn(memoryStore());
  const stream = new PassThrough();
  let about = { statusCode: 0, headers: {} as Record<string, string> };
  const body = text(stream);
  await answerUrl(
    {
      rawPath: '/',
      rawQueryString: '',
      headers: {},
      isBase64Encoded: false,
      requestContext: { domainName: 'localhost', http: { method } },
      ...event,
    },
    server.fetch,
    (given) => {
      about = given;
      return stream;
    },
  );
  await server.close();
  return { ...about, body: await body };
}

test('the card is at the function URL', async () => {
  const { statusCode, body } = await call({ rawPath: '/.well-known/agent-card.json' }, 'GET');
  assert.equal(statusCode, 200);
  assert.equal(JSON.parse(body).name, '{{title}}');
});

test('a message is answered by events', async () => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: '3 boxes' }] };
  const { headers, body } = await call(
    {
      rawPath: '/message:stream',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: Buffer.from(JSON.stringify({ message })).toString('base64'),
      isBase64Encoded: true,
    },
    'POST',
  );
  assert.equal(headers['content-type'], 'text/event-stream');
  assert.match(body, /"statusUpdate"/);
});
