import { assistant, card, keepsPrompts, mockModel } from '@batonjs/assistant';
import { connect } from '@batonjs/client';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { openGallery } from '../src/gallery.ts';
import { readSettings } from '../src/settings.ts';

it('shows what the calls of the assistant cost at the given price, and what it was asked', async () => {
  const keepPrompts = keepsPrompts({ ASSISTANT_PROMPTS: 'yes' });
  const gallery = await openGallery(
    [{ name: 'assistant', agent: assistant(mockModel(null), { keepPrompts }), card, restart: 'rerun' }],
    readSettings({ PORT: '0', BATON_DATA: temporaryFolder(), ASSISTANT_PRICE: 'EUR 100 1000.5' }),
  );
  onTestFinished(() => gallery.close());
  const agent = await connect(`${gallery.localUrl}/agents/assistant`);
  const { task } = await agent.send('I like boats');
  const { origin, hash } = new URL(gallery.inspectorUrl);
  const headers = { authorization: `Bearer ${hash.slice('#token='.length)}` };
  const get = (path: string) => fetch(`${origin}/inspector/api/${path}`, { headers });
  expect(await (await get('session')).json()).toMatchObject({ currency: 'EUR' });
  const feed = await get(`agents/assistant/tasks/${task!.id}/timeline`);
  let text = '';
  for await (const piece of feed.body!) {
    text += Buffer.from(piece).toString();
    if (text.includes('"kind":"model"')) break;
  }
  const { call } = text
    .split('\n')
    .flatMap((line) => (line.endsWith('}') ? (JSON.parse(line).entries ?? []) : []))
    .find((entry) => entry.call);
  expect(call).toMatchObject({
    provider: 'mock',
    modelId: 'mock',
    usage: { input: 3, output: 5 },
    cost: expect.closeTo(0.005_302_5, 9),
    messages: {
      prompt: [
        { role: 'system', text: 'You are a helpful assistant. Answer briefly.' },
        { role: 'user', text: 'I like boats' },
      ],
      answer: 'You said "I like boats".',
    },
  });
});

it.each([
  [{}, 'mock'],
  [{ ASSISTANT_MODEL: 'openai/gpt-5-mini' }, 'openai/gpt-5-mini'],
  [{ ASSISTANT_URL: 'http://127.0.0.1/v1' }, 'default'],
  [{ ASSISTANT_URL: 'http://127.0.0.1/v1', ASSISTANT_MODEL: 'local' }, 'local'],
])('has the price of the model that %j names', (env, model) => {
  const { modelPrices } = readSettings({ ...env, ASSISTANT_PRICE: 'USD 0.25 2' });
  expect(modelPrices).toEqual({ currency: 'USD', models: { [model]: { input: 0.25, output: 2 } } });
  expect(readSettings(env).modelPrices).toBeUndefined();
});

it.each(['USD', '0.25 2', '$ 0.25 2', 'USD 0.25', 'USD 0.25 2 3', 'USD -1 2', 'USD .5 2', 'USD a b'])(
  'does not start with the price %s',
  (ASSISTANT_PRICE) => {
    expect(() => readSettings({ ASSISTANT_PRICE })).toThrow(
      `ASSISTANT_PRICE must be a currency and the prices of a million tokens in and out, such as "USD 0.25 2", not "${ASSISTANT_PRICE}".`,
    );
  },
);

it('keeps no prompts unless it is asked to', () => {
  expect([{}, { ASSISTANT_PROMPTS: 'no' }, { ASSISTANT_PROMPTS: 'yes' }].map(keepsPrompts)).toEqual([
    false,
    false,
    true,
  ]);
});
