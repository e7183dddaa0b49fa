import { randomUUID } from 'node:crypto';
import { signTick } from '@batonjs/server/due';
import { describe, expect, it } from 'vitest';
import { codeBlocks } from '../../../scripts/packed/consumer.ts';
import { eventually } from '../../kit/until.ts';
import { postgres, prepare, secret, startLambda, startVercel } from './deployment.ts';
import { lambdaApi } from './lambda-api.ts';

/** The program of the page, as hosts run it that keep no process. */

/** The page's search, and one that says that it runs, and takes longer for a text. */
const searches = [
  'const search = async (text: string) => [text];',
  `const search = async (text: string) => {
  process.send?.('searching');
  await new Promise((resolve) => setTimeout(resolve, text === 'slow' ? 500 : 0));
  return [text];
};`,
] as const;

function program(): { code: string } {
  const [page = ''] = codeBlocks('docs/operating/hosts.md');
  expect(page).toContain(searches[0]);
  return { code: page.replace(...searches) };
}

describe.skipIf(!postgres)('the program of the page', () => {
  it('answers on Vercel, goes on after the reply, and loses nothing when it is frozen at any point', async () => {
    const { url, stateOf, send } = await prepare();
    const first = await startVercel(program(), url);
    const isIdle = first.said('idle');
    const after = await send(first);
    await isIdle;
    expect(await stateOf(after)).toBe('TASK_STATE_COMPLETED');
    // Frozen at once after a reply, or in the middle of a step.
    const frozen = [];
    const ids = [await send()];
    for (const [point, host] of [
      ['replied', first],
      ['searching', await startVercel(program(), url)],
    ] as const) {
      const isThere = host.said(point);
      ids.push(await send(host, 'slow'));
      await isThere;
      host.child.kill('SIGSTOP');
      frozen.push(host);
    }
    const last = await startVercel(program(), url);
    expect((await last.cron({})).status).toBe(401);
    await eventually(async () => {
      expect((await last.cron(await signTick(secret))).status).toBe(200);
      for (const id of ids) expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
    });
    for (const host of frozen) {
      host.child.kill('SIGCONT');
      expect((await host.cron({ authorization: `Bearer ${secret}` })).status).toBe(200);
    }
    for (const id of ids) expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
  });

  it('works on Lambda for EventBridge and for SQS, and fails a call without time or store', async () => {
    const { url, stateOf, send, open } = await prepare();
    const api = await lambdaApi();
    await startLambda(program(), 'handler', { DATABASE_URL: url, AWS_LAMBDA_RUNTIME_API: api.address });
    const scheduled = {
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      time: '2026-11-29T16:00:00Z',
      resources: ['arn:aws:events:eu-central-1:123456789012:rule/each-minute'],
      detail: {},
    };
    const id = await send();
    expect(await api.invoke(scheduled)).toMatchObject({ result: { turns: 1 } });
    expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
    expect(await api.invoke(scheduled)).toEqual({ result: { turns: 0 } });
    const error = { errorMessage: expect.any(String) };
    expect(await api.invoke(scheduled, 1)).toEqual({ error });
    // A message that comes twice. A call that fails brings both again.
    const record = { messageId: randomUUID(), body: 'look', eventSource: 'aws:sqs', attributes: {} };
    const messages = { Records: [record, record] };
    const other = await send();
    await open(false);
    expect(await api.invoke(messages)).toEqual({ error });
    await open(true);
    expect(await api.invoke(messages)).toEqual({ result: { turns: 1 } });
    expect(await stateOf(other)).toBe('TASK_STATE_COMPLETED');
  });
});
