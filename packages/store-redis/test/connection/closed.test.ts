import { expect, it } from 'vitest';
import { node, run } from '../../../../test/kit/processes.ts';
import { redisForTests } from '../../../../test/support/redis.ts';

const redis = await redisForTests();

/** Opens a store and closes it again, each time a little later while it connects: half of them subscribe, too. */
const program = `
import { setImmediate as turn } from 'node:timers/promises';
import { redisStore } from '@batonjs/store-redis';
for (let turns = 0; turns < 40; turns++) {
  const store = redisStore({ url: process.argv[1], prefix: 'closed' });
  if (turns % 2 === 0) void Promise.resolve(store.subscribe({ queue: 'q' }, () => {})).catch(() => {});
  for (let n = 0; n < turns / 2; n++) await turn();
  await store.close();
}
console.log('Closed');
`;

it.skipIf(!redis)('A program ends that closes its store while it connects', async () => {
  const args = ['--conditions=@batonjs/source', '--input-type=module', '--eval', program, redis!.url];
  await using command = run(node, args, { cwd: import.meta.dirname });
  expect(await command.ended, command.output).toBe(0);
  expect(command.output).toBe('Closed\n');
});
