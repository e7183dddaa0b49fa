import { completed } from '@batonjs/server';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { cli, fieldOf } from './cli.ts';
import { usedStore } from './used-store.ts';

async function told(textSearch: boolean, ...texts: readonly string[]) {
  const { file, server } = usedStore({
    textSearch,
    agent: async function* () {
      yield completed();
    },
  });
  for (const text of texts) await rpc(server, 'SendMessage', { message: say(text) });
  return (line: string) => cli(`tasks --store ${file} --agent used ${line}`);
}

it('lists the tasks whose first message has the words, and none of many by them', async () => {
  const tasks = await told(true, 'Refund invoice 42', 'Where is my invoice?');
  expect(fieldOf((await tasks('--text invoice')).stdout, 'Tasks')).toBe('2');
  expect((await tasks('--text refund --state completed -o json')).json.tasks).toHaveLength(1);
  expect((await tasks('refund --state failed -o json')).json.tasks).toEqual([]);
  const none = await tasks('--text nothing');
  expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('Tasks: 0')]);
  expect(none.stderr).toBe('');
  const many = await tasks('--text refund delete --all');
  expect([many.code, many.stderr]).toEqual([2, expect.stringContaining('--text is for the list alone')]);
  expect((await tasks('-o json')).json.totalSize).toBe(2);
});

it('looks at each task where a store does not search texts, and says so', async () => {
  const tasks = await told(false, 'Refund', 'Other', 'A refund');
  const { stdout } = await tasks('refund -label:x');
  expect([fieldOf(stdout, 'Tasks'), fieldOf(stdout, 'Searched')]).toEqual(['2', 'the newest 3 of 3']);
});
