import { expect, it } from 'vitest';
import { bundleSize } from '../../../bench/harness/bundle-size.ts';

it('has at most 7.6 KB, minified and compressed, beside React and the client', async () => {
  expect(await bundleSize('@batonjs/react', ['react', '@batonjs/client'])).toBeLessThanOrEqual(7_600);
});

it('has at most 30 KB with its chat, which reads Markdown', async () => {
  expect(await bundleSize('@batonjs/react/chat', ['react', '@batonjs/client'])).toBeLessThanOrEqual(30_000);
});
