import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { type AgentClient, connect } from '@batonjs/client';
import {
  type Agent,
  artifact,
  completed,
  failed,
  file,
  link,
  rejected,
  reply,
  working,
} from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { AgentTaskError, a2a } from '../../src/model/a2a.ts';

describe('an agent as a language model', () => {
  const prompt: LanguageModelV4CallOptions['prompt'] = [
    { role: 'user', content: [{ type: 'text', text: 'x' }] },
  ];
  const all: Agent = async function* () {
    yield working('Thinking');
    yield artifact(
      'a',
      'One',
      file(Buffer.from('hi'), { mediaType: 'text/plain' }),
      link('https://a.example'),
    );
    yield completed();
  };

  it('gives its whole answer: text, reasoning, files, sources, and where it goes on', async () => {
    const { content, finishReason, usage, warnings, providerMetadata } = await a2a(serve(all)).doGenerate({
      prompt,
    });
    expect(content).toMatchObject([
      { type: 'reasoning', text: 'Thinking' },
      { type: 'text', text: 'One' },
      { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: 'aGk=' } },
      { type: 'source', sourceType: 'url', url: 'https://a.example' },
      { type: 'text', text: '', providerMetadata },
    ]);
    expect([finishReason, warnings]).toEqual([{ unified: 'stop', raw: undefined }, []]);
    expect(usage).toStrictEqual({
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    });
    expect(providerMetadata).toEqual({
      a2a: { contextId: expect.any(String), taskId: expect.any(String), state: 'TASK_STATE_COMPLETED' },
    });
  });

  it('has no task in its metadata where the agent made none', async () => {
    const { providerMetadata } = await a2a(
      serve(() => reply('Hello')),
      { contextId: 'mine' },
    ).doGenerate({ prompt });
    expect(providerMetadata).toEqual({ a2a: { contextId: 'mine' } });
  });

  it.each<[string, Agent, string]>([
    [
      'FAILED',
      async function* () {
        yield failed('No room');
      },
      ': No room',
    ],
    [
      'REJECTED',
      async function* () {
        yield rejected();
      },
      '',
    ],
  ])('throws for a task that is %s', async (state, agent, why) => {
    const error = await Promise.resolve(a2a(serve(agent)).doGenerate({ prompt })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(AgentTaskError);
    const { name, message: words, task: ended } = error as AgentTaskError;
    expect([name, words]).toEqual([
      'AgentTaskError',
      `The task of the agent ended as TASK_STATE_${state}${why}`,
    ]);
    expect(ended.status.state).toBe(`TASK_STATE_${state}`);
  });

  it('has an error as a part of its stream, and ends it', async () => {
    const { stream } = await a2a(
      serve(async function* () {
        yield failed('No room');
      }),
    ).doStream({ prompt });
    const parts: LanguageModelV4StreamPart[] = [];
    for await (const part of stream) parts.push(part);
    expect(parts.slice(-2)).toMatchObject([
      { type: 'error', error: { message: expect.stringContaining('No room') } },
      { type: 'finish', finishReason: { unified: 'error', raw: undefined } },
    ]);
    expect(parts[0]).toEqual({ type: 'stream-start', warnings: [] });
  });

  it('wants JSON where the caller does', async () => {
    const modes: (readonly string[])[] = [];
    const model = a2a(
      serve(async function* ({ acceptedOutputModes }) {
        modes.push(acceptedOutputModes);
        yield completed();
      }),
    );
    await model.doGenerate({ prompt, responseFormat: { type: 'json' } });
    await model.doGenerate({ prompt, responseFormat: { type: 'text' } });
    await model.doGenerate({ prompt });
    expect(modes).toEqual([['application/json'], [], []]);
  });

  it.each([
    'maxOutputTokens',
    'temperature',
    'stopSequences',
    'topP',
    'topK',
    'presencePenalty',
    'frequencyPenalty',
    'seed',
    'tools',
  ])('warns that it knows no %s', async (feature) => {
    const warned = async (value: unknown) =>
      (await a2a(serve(() => reply('x'))).doGenerate({ prompt, [feature]: value } as never)).warnings;
    expect(await warned([{}])).toEqual([
      { type: 'unsupported', feature, details: 'An agent decides this by itself' },
    ]);
    expect(await warned(undefined)).toEqual([]);
    expect(await warned([])).toHaveLength(feature === 'tools' ? 0 : 1);
  });

  it('has the name of its agent', async () => {
    const server = serve(() => reply('x'));
    const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    const { specificationVersion, provider, supportedUrls } = a2a(client);
    expect([specificationVersion, provider]).toEqual(['v4', 'a2a']);
    const [pattern] = ((await supportedUrls)['*/*'] as RegExp[]) ?? [];
    expect(['http://a', 'https://a', 'ftp://a', 'x:http:'].map((url) => pattern!.test(url))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const nameless = { ...client, card: {} } as unknown as AgentClient;
    expect(
      [
        'https://a.example/x',
        new URL('https://a.example'),
        client,
        server,
        nameless,
        { handle() {} } as never,
      ].map((agent) => a2a(agent).modelId),
    ).toEqual(['https://a.example/x', 'https://a.example/', 'Test', 'Test', 'agent', 'agent']);
  });

  it('connects once, and again after it could not', async () => {
    const server = serve(() => reply('x'));
    const asked: string[] = [];
    const model = a2a(new URL('https://a.example'), {
      async connect(url) {
        asked.push(url);
        if (asked.length === 1) throw new Error('Not now');
        return connect('http://localhost', { fetch: (request) => server.fetch(request) });
      },
    });
    await expect(Promise.resolve(model.doGenerate({ prompt }))).rejects.toThrow('Not now');
    for (const _ of [1, 2]) await model.doGenerate({ prompt });
    expect(asked).toEqual(['https://a.example/', 'https://a.example/']);
  });
});
