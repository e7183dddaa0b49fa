import { expect, it } from 'vitest';
import { draw } from '../../scripts/recording/draw.ts';
import { perform } from '../../scripts/recording/perform.ts';
import { readText } from '../repository/source-files.ts';

it('the recording in the README is what happens when a server is killed', async () => {
  const [before, after] = await perform();
  expect(draw([before, after])).toBe(readText('docs/images/kill-and-resume.svg'));
  // The client has every page once, and was told nothing of the kill.
  const pages = Array.from({ length: 6 }, (_, n) => `notes of page ${n + 1}`);
  expect([...before.client, ...after.client]).toEqual([
    '$ node client.ts',
    'SUBMITTED',
    ...pages,
    'COMPLETED',
  ]);
});
