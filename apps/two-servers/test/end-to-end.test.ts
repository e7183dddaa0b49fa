import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { node, run } from '../../../test/kit/processes.ts';
import { canStart } from '../../../test/support/redis.ts';

const app = join(import.meta.dirname, '..');
const start = ['--conditions=@batonjs/source', 'src/main.ts'];
const isHere = process.env.REDIS_URL !== undefined || (await canStart());

describe.skipIf(!isHere)('two servers and a worker on one Redis', () => {
  it('are one agent to a client, also when the worker is killed', { timeout: 60_000 }, async () => {
    await using command = run(node, start, { cwd: app });
    expect(await command.ended, command.output).toBe(0);
    const steps = command.output.split('\n').map((line) => line.replaceAll(/[\da-f-]{36}/g, '…'));
    expect(steps.map((line) => line.replaceAll(/"\d+"/g, '"n"').trimEnd())).toEqual([
      'A  starts …',
      'B  follows it, and hears the question: How far shall I count?',
      'A  says the same when it is asked',
      'B  takes the answer: 15',
      '    worker 1 is killed (SIGKILL) after "n"',
      '    worker 2 logs: A turn was taken over: the lease of its process expired (attempt 1 of 3)',
      '    worker 2 logs: A turn is run again (attempt 2 of 3)',
      '    worker 2 goes on with "n", and who followed heard each number once',
      'A  starts …',
      'B  follows it',
      'A  cancels it',
      'B  knows, and notified its follower',
      '    SIGTERM: all ended by themselves',
      'All as it should be',
      '',
    ]);
  });
});

it('says in one line how to get a Redis where there is none', async () => {
  await using command = run(node, start, { cwd: app, env: { PATH: '/nowhere', REDIS_URL: '' } });
  expect(await command.ended).toBe(1);
  expect(command.output).toMatch(/^No redis-server here: .*set REDIS_URL\.\n$/);
});
