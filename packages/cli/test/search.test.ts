import { completed, failed, inputRequired } from '@batonjs/server';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { cli, fieldOf } from './cli.ts';
import { usedStore } from './used-store.ts';

/** Tasks of Ada and Bob: `tea 1` to `tea 6` by turns, of which each costs as much as its number. */
async function shop() {
  const { file, server } = usedStore({
    authenticate: ({ headers }) => ({ scope: String(headers['x-caller'] ?? '') }),
    async *agent(turn) {
      const number = Number(turn.text.split(' ')[1]);
      await turn.usage('call', { model: 'm', cost: number, currency: number > 3 ? 'EUR' : 'USD' });
      yield { labels: [`schedule:${number % 3}`, number > 4 ? 'vip' : 'eu'] };
      if (number === 2) yield failed({ code: 'TOO_HOT', message: 'No' });
      else yield number === 6 ? inputRequired('Milk?') : completed('Here you are');
    },
  });
  for (const number of [1, 2, 3, 4, 5, 6])
    await rpc(
      server,
      'SendMessage',
      { message: say(`tea ${number}`) },
      { 'x-caller': number % 2 === 0 ? 'bob' : 'ada' },
    );
  // What it knows of its callers is written.
  await server.close();
  return (line: string, around = {}) => cli(`tasks --store ${file} --agent used ${line}`, around);
}
type Listed = { readonly title: string; readonly caller?: string };
const titles = (json: { readonly tasks: readonly Listed[] }) => json.tasks.map(({ title }) => title);

it('one search finds tasks by words, labels that they have and lack, code, caller, time and cost', async () => {
  const tasks = await shop();
  const found = async (search: string) => titles((await tasks(`-o json ${search}`)).json);
  expect(await found('caller:bob')).toEqual(['tea 6', 'tea 4', 'tea 2']);
  expect(await found('--all-callers')).toEqual([6, 5, 4, 3, 2, 1].map((number) => `tea ${number}`));
  expect(await found("--all-callers 'cost:>2.5 -label:vip'")).toEqual(['tea 4', 'tea 3']);
  expect(await found('--all-callers cost:<2 took:<1h')).toEqual(['tea 1']);
  expect(await found('--all-callers took:>1h')).toEqual([]);
  expect(await found('--caller ada label:vip')).toEqual(['tea 5']);
  expect(await found('--caller ada --label vip label:schedule:0')).toEqual([]);
  expect(await found("--caller ada -label:schedule:1* 'here you'")).toEqual(['tea 5', 'tea 3']);
  expect(await found('--all-callers code:TOO_HOT')).toEqual(['tea 2']);
  expect(await found('--all-callers --text tea 6')).toEqual(['tea 6']);
  expect(await found('caller:eve')).toEqual([]);
  const [first] = (await tasks('-o json caller:ada label:vip')).json.tasks;
  expect(first).toMatchObject({ costs: { EUR: 5_000_000 }, labels: ['schedule:2', 'vip'] });
});

it('lists of all callers and searches go on by their token, and rows say whose they are', async () => {
  const tasks = await shop();
  for (const [search, pages] of [
    [
      '--all-callers',
      [
        ['ada tea 5', 'bob tea 6'],
        ['ada tea 3', 'bob tea 4'],
        ['ada tea 1', 'bob tea 2'],
      ],
    ],
    [
      '--all-callers -label:vip',
      [
        ['ada tea 3', 'bob tea 4'],
        ['ada tea 1', 'bob tea 2'],
      ],
    ],
  ] as const) {
    const seen: string[][] = [];
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page = `--page-size 2 ${token === '' ? '' : `--page-token ${token}`}`;
      const { json } = await tasks(`-o json ${page} ${search}`);
      if (json.tasks.length > 0)
        seen.push(json.tasks.map(({ caller, title }: Listed) => `${caller} ${title}`).sort());
      token = json.nextPageToken;
    }
    expect(seen).toEqual(pages);
  }
  const text = (await tasks('--all-callers tea')).stdout;
  expect([fieldOf(text, 'Caller'), fieldOf(text, 'Searched')]).toEqual(['bob', 'the newest 6 of 6']);
  const drawn = await tasks('--all-callers milk', { isTTY: true, env: { NO_COLOR: '1' } });
  expect(drawn.stdout).toMatch(/\ninput-required +\ds {2}[\w-]{36} {2}bob {2}Milk\?\n$/);
  expect(drawn.stderr).toContain('1 task, searched in the newest 6 of 6');
  expect((await tasks('--page-token x')).stderr).toContain('no place in a list of tasks');
});

it.each([
  ['lable:vip', 'lable:vip is no filter: they are label:vip -label:schedule:* code:TIMEOUT'],
  ['took:10', 'took:>10s'],
  ['cost:>x', 'cost:>1'],
  ['--all-callers --caller ada', '--all-callers and --caller contradict each other'],
  ['--all-callers delete --all', '--all-callers is for the list alone'],
])('refuses %s', async (line, message) => {
  const { file } = usedStore({ agent: async function* () {} });
  const { code, stderr } = await cli(`tasks --store ${file} ${line}`);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
