import { runTurn } from '@batonjs/server';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it } from 'vitest';
import { assistant } from '../src/index.ts';

it('fails when its model does, and tells nothing of why', async () => {
  const model = new MockLanguageModelV4({ doStream: () => Promise.reject(new Error('secret key')) });
  const { updates } = await runTurn(assistant(model), 'hello');
  expect(updates.at(-1)).toMatchObject({
    status: { state: 'TASK_STATE_FAILED', message: { parts: [{}, { data: { code: 'MODEL_FAILED' } }] } },
  });
  expect(JSON.stringify(updates)).not.toMatch('secret');
});
