import { completed } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { SCHEDULING, scheduled } from '../../src/client.ts';
import { extend, scheduling } from '../../src/index.ts';
import { card, serve } from '../serve.ts';

const agent = extend(
  {
    card,
    async *agent({ text }) {
      yield completed(text);
    },
  },
  scheduling,
);
const now = { returnImmediately: true };
const inAnHour = () => new Date(Date.now() + 3_600_000);

describe('a message that is postponed', () => {
  it.each(['JSONRPC', 'HTTP+JSON'])(
    'waits for its time at an agent with the extension, over %s [R-EXT-01, R-EXT-04]',
    async (binding) => {
      const client = await serve(agent).client({ extensions: [SCHEDULING], binding });
      const notBefore = inAnHour();
      const { task } = await client.send(scheduled('later', { notBefore }), now);
      expect(task?.status.state).toBe('TASK_STATE_SUBMITTED');
      const { history } = await client.getTask({ id: task!.id });
      expect(history).toMatchObject([
        {
          parts: [{ text: 'later' }],
          extensions: [SCHEDULING],
          metadata: { [SCHEDULING]: { notBefore: notBefore.toISOString() } },
        },
      ]);
      expect((await client.cancelTask({ id: task!.id })).status.state).toBe('TASK_STATE_CANCELED');
    },
  );

  it('starts at once for a client without the extension [R-EXT-02]', async () => {
    const { server, client } = serve(agent);
    expect(server.card.capabilities.extensions).toMatchObject([{ uri: SCHEDULING }]);
    const { task } = await (await client()).send(scheduled('at once', { notBefore: inAnHour() }));
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('keeps what the message had', () => {
    const message = scheduled(
      { parts: [{ text: 'x' }], messageId: 'm', extensions: ['urn:a'], metadata: { a: 1 } },
      { notBefore: new Date('2030-01-01T06:00:00Z') },
    );
    expect(message).toEqual({
      parts: [{ text: 'x' }],
      messageId: 'm',
      extensions: ['urn:a', SCHEDULING],
      metadata: { a: 1, [SCHEDULING]: { notBefore: '2030-01-01T06:00:00.000Z' } },
    });
    expect(scheduled('x', { priority: 9 }).metadata).toEqual({ [SCHEDULING]: { priority: 9 } });
    expect(scheduled([{ text: 'x' }], {}).parts).toEqual([{ text: 'x' }]);
    expect(() => scheduled('x', { notBefore: new Date('soon') })).toThrow(RangeError);
  });
});
