import { createServer } from 'node:http';
import { artifact, completed } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import * as ai from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it, onTestFinished } from 'vitest';
import { codeBlocks } from '../../../scripts/packed/consumer.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import * as client from '../src/client.ts';

const modules: Readonly<Record<string, object>> = { ai, '@batonjs/ai-sdk/client': client };

it("the README's program with agents as tools prints the answer", async () => {
  const weather = serve(async function* ({ text }) {
    yield artifact('answer', `Cold: ${text}`);
    yield completed();
  });
  const url = await listen(createServer(nodeHandler(weather)));
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const results: unknown[] = [];
  // The model calls the tool that it was given, and then says what the result means.
  const model = new MockLanguageModelV4({
    async doGenerate({ tools, prompt }) {
      if (prompt.at(-1)?.role !== 'tool') {
        const { name: toolName } = tools![0]!;
        const input = '{"message":"Oulu"}';
        const content = [{ type: 'tool-call', toolCallId: 'call-1', toolName, input } as const];
        return { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
      }
      results.push(prompt.at(-1)!.content);
      const content = [{ type: 'text', text: 'Take a coat' } as const];
      return { content, finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
    },
  });
  const { AI_SDK_DEFAULT_PROVIDER: before } = globalThis;
  onTestFinished(() => {
    globalThis.AI_SDK_DEFAULT_PROVIDER = before;
  });
  globalThis.AI_SDK_DEFAULT_PROVIDER = { specificationVersion: 'v4', languageModel: () => model } as never;

  const program = codeBlocks('packages/ai-sdk/README.md')[1]!
    .replaceAll('https://weather.example.com', url)
    .replaceAll(/^import (.+) from ('.+');$/gm, 'const $1 = modules[$2];');
  const printed: unknown[] = [];
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  await new AsyncFunction('modules', 'console', program)(modules, {
    log: (...values: unknown[]) => printed.push(...values),
  });
  expect(printed).toEqual(['Take a coat']);
  expect(JSON.stringify(results)).toMatch('Cold: Oulu');
});
