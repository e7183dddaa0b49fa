import { connect } from '@batonjs/client';
import {
  type Agent,
  append,
  artifact,
  completed,
  data,
  failed,
  file,
  inputRequired,
  link,
  reply,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { generateText, jsonSchema, type ModelMessage, Output, streamText } from 'ai';
import { afterAll, describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { a2a } from '../../src/client.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;
afterAll(() => {
  globalThis.AI_SDK_LOG_WARNINGS = undefined;
});

/** Says what it was sent, in two chunks, and in which context. */
const echo: Agent = async function* ({ text, contextId }) {
  yield working('Thinking');
  yield artifact('echo', `You said "${text}" `);
  yield append('echo', `in ${contextId}`);
  yield completed();
};

const said = async (result: { readonly stream: AsyncIterable<{ type: string }> }) => {
  const parts: string[] = [];
  for await (const part of result.stream) parts.push(part.type);
  return parts;
};

describe('an agent as a language model', () => {
  it('streams over HTTP: artifacts as text, progress as reasoning', async () => {
    const url = await listen(nodeHandler(serve(echo)));
    const result = streamText({ model: a2a(url), prompt: 'hello' });
    const chunks: string[] = [];
    for await (const text of result.textStream) if (text) chunks.push(text);
    expect(chunks[0]).toBe('You said "hello" ');
    expect(chunks[1]).toMatch(/^in /);
    expect(await result.reasoningText).toBe('Thinking');
    expect(await result.finishReason).toBe('stop');
    expect((await result.totalUsage).totalTokens).toBeUndefined();
  });

  it('remembers the context in the messages of the SDK, and sends only the latest message', async () => {
    const model = a2a(serve(echo));
    const messages: ModelMessage[] = [{ role: 'user', content: 'one' }];
    const first = await generateText({ model, messages });
    messages.push(...first.responseMessages, { role: 'user', content: 'two' });
    const second = await generateText({ model, messages });
    const { contextId } = first.providerMetadata!.a2a as { contextId: string };
    expect(second.text).toBe(`You said "two" in ${contextId}`);
    const named = await generateText({
      model,
      prompt: 'three',
      providerOptions: { a2a: { contextId: 'mine' } },
    });
    expect(named.text).toBe('You said "three" in mine');
  });

  it('sends instructions and what another model said before as text', async () => {
    const messages: ModelMessage[] = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'Yes' },
      { role: 'user', content: 'two' },
    ];
    const { text } = await generateText({ model: a2a(serve(echo)), instructions: 'Be kind', messages });
    expect(text).toMatch('Be kind\n\nUser: one\n\nAssistant: Yes\ntwo');
  });

  it('gives a question as text with metadata, and the next prompt answers it', async () => {
    const model = a2a(
      serve(async function* ({ messages, text }) {
        if (messages.length === 1) yield inputRequired('Which one?');
        else yield completed(`So ${text}`);
      }),
    );
    const asked = await generateText({ model, prompt: 'book' });
    expect(asked).toMatchObject({ text: 'Which one?', finishReason: 'stop' });
    expect(asked.providerMetadata?.a2a).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED' });
    const messages: ModelMessage[] = [...asked.responseMessages, { role: 'user', content: 'the red one' }];
    expect((await generateText({ model, messages })).text).toBe('So the red one');
  });

  it('gives files, data and plain messages, and takes files', async () => {
    const model = a2a(
      serve(async function* ({ message }) {
        yield artifact('all', 'a', data({ b: 1 }), file(Buffer.from('hello'), { mediaType: 'text/plain' }));
        yield artifact('sent', data(message.parts.map((part) => Object.keys(part)[0]!)));
        yield artifact('far', link('https://example.com/x.png', { mediaType: 'image/png' }));
        yield completed();
      }),
    );
    const { text, files, sources } = await generateText({
      model,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'file',
              mediaType: 'text/plain',
              data: { type: 'data', data: new Uint8Array([104, 105]) },
            },
            {
              type: 'file',
              mediaType: 'text/plain',
              data: { type: 'url', url: new URL('https://example.com/a') },
            },
          ],
        },
      ],
    });
    expect(text).toBe('a{"b":1}\n\n["raw","url"]');
    expect(files.map(({ mediaType, base64 }) => [mediaType, base64])).toEqual([['text/plain', 'aGVsbG8=']]);
    expect(sources).toMatchObject([{ url: 'https://example.com/x.png' }]);
    const plain = await generateText({ model: a2a(serve(() => reply('Hello'))), prompt: 'x' });
    expect(plain.text).toBe('Hello');
  });

  it('gives JSON where the caller wants an object', async () => {
    const model = a2a(
      serve(async function* () {
        yield artifact('result', 'Here it is: ', data({ degrees: 7 }));
        yield completed();
      }),
    );
    const schema = jsonSchema<{ degrees: number }>({
      type: 'object',
      properties: { degrees: { type: 'number' } },
    });
    const { output } = await generateText({ model, prompt: 'x', output: Output.object({ schema }) });
    expect(output).toEqual({ degrees: 7 });
  });

  it('fails when the task does, with the reason that the agent gives', async () => {
    const model = a2a(
      serve(async function* () {
        yield failed('There is no room');
      }),
    );
    await expect(generateText({ model, prompt: 'x', maxRetries: 0 })).rejects.toThrow('There is no room');
    expect(await said(streamText({ model, prompt: 'x', maxRetries: 0, onError() {} }))).toContain('error');
  });

  it('warns of settings that an agent does not know', async () => {
    const { warnings } = await generateText({ model: a2a(serve(echo)), prompt: 'x', temperature: 1 });
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'temperature' }]);
  });

  it('cancels its task when it is aborted', async () => {
    const server = serve(async function* ({ signal }) {
      yield artifact('half', 'Half');
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const abort = new AbortController();
    const result = streamText({ model: a2a(server), prompt: 'x', abortSignal: abort.signal, onError() {} });
    let ids: string[] = [];
    for await (const part of result.stream) {
      if (part.type !== 'text-delta') continue;
      const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
      const { tasks } = await client.listTasks();
      ids = tasks.map(({ id }) => id);
      abort.abort();
    }
    await until(server, ids[0]!, 'CANCELED');
  });
});
