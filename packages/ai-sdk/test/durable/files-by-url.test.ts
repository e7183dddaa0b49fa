import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { everyUrl, withFiles } from '../../src/durable/recorded-model.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];

const bytes = new Uint8Array([104, 105]);

/** An address that gives a file, and how often it was asked. */
async function files(type?: string) {
  const asked: (string | undefined)[] = [];
  const origin = await listen((request, response) => {
    asked.push(request.url);
    response.writeHead(200, type ? { 'content-type': type } : {}).end('hi');
  });
  return { url: new URL(`${origin}/a.png`), asked };
}

const promptOf = (url: URL, mediaType = 'image/png', role = 'user') =>
  [
    { role, content: [{ type: 'file', mediaType, data: { type: 'url', url }, filename: 'a.png' }] },
  ] as unknown as Prompt;

const options = { allow: ['127.0.0.1:*'] };
const fetched = (mediaType: string) => [
  {
    role: 'user',
    content: [{ type: 'file', mediaType, data: { type: 'data', data: bytes }, filename: 'a.png' }],
  },
];

describe('a file of an address', () => {
  it('is fetched for a model that fetches none', async () => {
    const { url, asked } = await files();
    expect(await withFiles(promptOf(url), { supportedUrls: {} }, options)).toEqual(fetched('image/png'));
    expect(asked).toEqual(['/a.png']);
  });

  it.each<[Record<string, RegExp[]>, string, boolean]>([
    [{ '*': [/./] }, 'image/png', true],
    [{ '*/*': [/./] }, 'image/png', true],
    [{ 'image/*': [/./] }, 'image/png', true],
    [{ 'IMAGE/*': [/./] }, 'image/png', true],
    [{ 'image/png': [/./] }, 'Image/PNG', true],
    [{ 'image/*': [/./] }, 'image', true],
    [{ 'image/*': [/^ftp:/, /a\.png$/] }, 'image/png', true],
    [{ 'audio/*': [/./], 'image/png': [/./] }, 'image/png', true],
    [{ 'image/*': [/^ftp:/] }, 'image/png', false],
    [{ 'image/*': [] }, 'image/png', false],
    [{ 'audio/*': [/./] }, 'image/png', false],
    [{ 'image/jpeg': [/./] }, 'image/png', false],
    [{ 'image/': [/./] }, 'image/png', false],
    [{ 'imag/*': [/./] }, 'image/png', false],
    [{ 'png/*': [/./] }, 'image/png', false],
  ])('is left to a model that supports %j, for %s: %s', async (supportedUrls, mediaType, isLeft) => {
    const { url, asked } = await files();
    const prompt = promptOf(url, mediaType);
    const given = await withFiles(prompt, { supportedUrls: Promise.resolve(supportedUrls) }, options);
    expect(given).toEqual(isLeft ? prompt : fetched(mediaType));
    expect(asked).toHaveLength(isLeft ? 0 : 1);
  });

  it.each([
    ['image', 'image/png', 'image/png'],
    ['application/octet-stream', 'image/png', 'image/png'],
    ['image/jpeg', 'image/png', 'image/jpeg'],
    ['image', undefined, 'image'],
  ])('of the type %s that is given as %s is one of %s', async (mediaType, type, found) => {
    const { url } = await files(type);
    const given = await withFiles(promptOf(url, mediaType), { supportedUrls: {} }, options);
    expect(given).toEqual(fetched(found));
  });

  it('is not fetched inside of this network, unless it is allowed', async () => {
    const { url, asked } = await files();
    await expect(withFiles(promptOf(url), { supportedUrls: {} }, {})).rejects.toThrow();
    expect(asked).toEqual([]);
  });
});

it('everything else of a prompt is left as it is', async () => {
  const { url, asked } = await files();
  const prompt = [
    { role: 'system', content: 'Be kind' },
    ...promptOf(url, 'image/png', 'assistant'),
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
      ],
    },
  ] as unknown as Prompt;
  expect(await withFiles(prompt, { supportedUrls: {} }, options)).toEqual(prompt);
  expect(asked).toEqual([]);
});

it('the SDK fetches no address of http and https', () => {
  const [pattern] = everyUrl['*/*'];
  const taken = ['http://a', 'https://a', 'ftp://http:', 'xhttp://a'].filter((url) => pattern!.test(url));
  expect([Object.keys(everyUrl), taken]).toEqual([['*/*'], ['http://a', 'https://a']]);
});
