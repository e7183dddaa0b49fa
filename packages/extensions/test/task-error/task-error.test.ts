import { completed, data, failed, rejected, text } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { errorOf, TASK_ERROR } from '../../src/client.ts';
import { extend, taskError } from '../../src/index.ts';
import { card, serve } from '../serve.ts';

const failure = { code: 'NO_PAPER', message: 'Out of paper', retryable: true, details: { tray: 2 } };

/** The reply to one message. */
const outcomes = {
  fail: failed(failure),
  reject: rejected([text('No'), data({ code: 'NO', message: 'No' })]),
  'fail in words': failed('It did not work'),
  complete: completed([text('Done'), data(failure)]),
};
const printer = extend(
  {
    card,
    async *agent({ text: said }) {
      yield outcomes[said as keyof typeof outcomes];
    },
  },
  taskError,
);

describe('the error of a task', () => {
  it('is marked for those who ask for it, and readable for everybody [R-EXT-01]', async () => {
    const { client } = serve(printer);
    const { task: marked } = await (await client({ extensions: [TASK_ERROR] })).send('fail');
    expect(marked?.status.message).toMatchObject({
      parts: [{ text: 'Out of paper' }, { data: failure }],
      extensions: [TASK_ERROR],
      metadata: { [TASK_ERROR]: failure },
    });
    expect(errorOf(marked!)).toEqual(failure);
    const { task: plain } = await (await client()).send('fail');
    expect(plain?.status.message?.metadata).toBeUndefined();
    expect(errorOf(plain!)).toEqual(failure);
  });

  it('is read from a REJECTED task, not from a completed one or from plain text', async () => {
    const agent = await serve(printer).client({ extensions: [TASK_ERROR] });
    const errorAfter = async (said: string) => errorOf((await agent.send(said)).task!);
    expect(await errorAfter('reject')).toEqual({ code: 'NO', message: 'No' });
    expect(await errorAfter('fail in words')).toBeUndefined();
    expect(await errorAfter('complete')).toBeUndefined();
  });

  it('is there when the server itself ended the task', async () => {
    const { client } = serve(extend({ card, agent: () => Promise.reject(new Error('secret')) }, taskError));
    const { task } = await (await client({ extensions: [TASK_ERROR] })).send('x');
    expect(errorOf(task!)).toMatchObject({ code: 'AGENT_FAILED' });
  });

  it.each([null, 7, { code: 7, message: 'x' }, { code: '', message: 'x' }, { code: 'X' }, [failure]])(
    'that makes no sense is none: %j [R-EXT-07]',
    (reported) => {
      const message = {
        messageId: 'm',
        role: 'ROLE_AGENT' as const,
        parts: [],
        metadata: { [TASK_ERROR]: reported },
      };
      const status = { state: 'TASK_STATE_FAILED' as const, message };
      expect(errorOf({ id: 't', contextId: 'c', status })).toBeUndefined();
    },
  );
});
