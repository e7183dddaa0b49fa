import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fetching } from '../../scripts/release/fetching.ts';
import { node } from '../kit/processes.ts';

/** A program that never ends, as a download that hangs. */
const hanging = (signal: AbortSignal) =>
  promisify(execFile)(node, ['--eval', 'setInterval(() => {}, 1_000)'], { signal });

it('a step of a release that fetches says so first, and names what it got', async () => {
  const said: string[] = [];
  const options = { say: (line: string) => void said.push(line) };
  const fetched = await fetching('a tool', async () => said.length, options);
  expect([fetched, said]).toEqual([1, ['Fetching a tool, for at most 300 s …']]);
});

it('a step of a release that fetches ends at its bound, and names what it waited for', async () => {
  const options = { boundMs: 50, say: () => {} };
  await expect(fetching('Node.js 22', hanging, options)).rejects.toThrow(
    'Fetching Node.js 22 failed: not there after 0.05 s',
  );
});

it('a step of a release that fetches says why it failed', async () => {
  const failing = (signal: AbortSignal) =>
    promisify(execFile)(node, ['--eval', 'console.error("E404 no such package"); process.exit(1)'], {
      signal,
    });
  await expect(fetching('a tool', failing, { say: () => {} })).rejects.toThrow(
    /^Fetching a tool failed: [\s\S]*E404 no such package/,
  );
});
