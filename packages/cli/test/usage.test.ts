import { join } from 'node:path';
import { completed, createAgentServer } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { cli } from './cli.ts';

/** A store in which two callers used two models. */
async function countedFile(): Promise<string> {
  const file = join(temporaryFolder(), 'tasks.db');
  const store = sqliteStore(file);
  onTestFinished(() => store.close());
  const serve = (caller?: string) =>
    createAgentServer({
      card: { name: 'Used', description: 'Is used' },
      ...{ name: 'used', store, logger: () => {}, limits: { dailyCost: { USD: 1e6 } } },
      authenticate: caller === undefined ? undefined : () => ({ scope: caller }),
      agent: async function* (turn) {
        await turn.step(
          'ask',
          {
            usage: () => ({
              ...{ model: turn.text, inputTokens: 7, outputTokens: 3, cachedTokens: 5 },
              ...(turn.text === 'small' && { cost: 0.1, currency: 'USD' }),
            }),
          },
          () => 1,
        );
        yield completed();
      },
    });
  const send = (model: string, caller?: string) =>
    rpc(closedAfterTest(serve(caller)), 'SendMessage', { message: say(model) });
  await send('small', 'ada, "of" sales');
  await send('small');
  await send('large');
  return file;
}

it('sums up what models used, by day, caller and model, as text, JSON and comma-separated values', async () => {
  const flags = `usage --store ${await countedFile()} --agent used`;
  const times = (n: number, USD: number) => ({
    ...{ calls: n, inputTokens: 7 * n },
    ...{ outputTokens: 3 * n, cachedTokens: 5 * n, USD },
  });
  const today = new Date().toISOString().slice(0, 10);
  const byDay = await cli(`${flags} -o json`);
  expect(byDay.json).toMatchObject({ agent: 'used', by: 'day', rows: [{ day: today, ...times(3, 0.2) }] });
  expect((await cli(`${flags} --by model -o json`)).json.rows).toEqual([
    { model: 'small', ...times(2, 0.2) },
    { model: 'large', ...times(1, 0) },
  ]);
  expect((await cli(`${flags} --by caller -o json --since 7d`)).json.rows).toEqual(
    expect.arrayContaining([
      { caller: 'ada, "of" sales', ...times(1, 0.1) },
      { caller: 'without authentication', ...times(2, 0.1) },
    ]),
  );
  expect((await cli(`${flags} --by caller --csv`)).stdout.split('\n').sort()).toEqual([
    '',
    '"ada, ""of"" sales",1,7,3,5,0.1',
    'caller,calls,inputTokens,outputTokens,cachedTokens,USD',
    'without authentication,2,14,6,10,0.1',
  ]);
  expect((await cli(`${flags} --by model`)).stdout).toBe(
    [
      'model  calls  inputTokens  outputTokens  cachedTokens  USD\n',
      'small      2           14             6            10  0.2\n',
      'large      1            7             3             5    0\n',
    ].join(''),
  );
});

it('says why there is nothing, and which rows there may be', async () => {
  const file = await countedFile();
  const { stderr, code } = await cli(`usage --store ${file} --agent other`);
  expect([stderr, code]).toEqual(['Nothing was counted: set a limit, such as `limits.dailyTokens`\n', 0]);
  const wrong = await cli(`usage --store ${file} --by week`);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('day, caller, model');
});
