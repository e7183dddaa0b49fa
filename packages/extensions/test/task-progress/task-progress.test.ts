import { completed, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { progressOf, TASK_PROGRESS } from '../../src/client.ts';
import { extend, progress, taskProgress } from '../../src/index.ts';
import { card, serve } from '../serve.ts';

const reader = extend(
  {
    card,
    async *agent() {
      yield working('Page 3', { ...progress(3, 10), other: 'kept' });
      yield working(undefined, progress(100));
      yield completed();
    },
  },
  taskProgress,
);

describe('progress', () => {
  it.each(['JSONRPC', 'HTTP+JSON'])(
    'is sent to clients that activate the extension, over %s [R-EXT-01, R-SEED-11]',
    async (binding) => {
      const agent = await serve(reader).client({ extensions: [TASK_PROGRESS], binding });
      const stream = agent.stream('go');
      const seen = [];
      for await (const event of stream) seen.push(progressOf(event));
      expect(seen).toEqual([undefined, { progress: 3, total: 10 }, { progress: 100, total: 100 }, undefined]);
      const { history } = await agent.getTask({ id: stream.task!.id });
      expect(history?.[1]).toMatchObject({
        parts: [{ text: 'Page 3' }],
        extensions: [TASK_PROGRESS],
        metadata: { [TASK_PROGRESS]: { aggregate: { progress: 3, total: 10 } } },
      });
    },
  );

  it('is not sent to other clients [R-EXT-01]', async () => {
    const { server, client } = serve(reader);
    expect(server.card.capabilities.extensions).toMatchObject([{ uri: TASK_PROGRESS }]);
    const events = [];
    for await (const event of (await client()).stream('go')) events.push(event);
    expect(JSON.stringify(events)).not.toContain(TASK_PROGRESS);
    expect(events[1]).toMatchObject({ statusUpdate: { metadata: { other: 'kept' } } });
    expect(events[2]?.statusUpdate?.metadata).toBeUndefined();
  });

  it.each([
    [-1, 10],
    [11, 10],
    [Number.NaN, 10],
    [1, Number.POSITIVE_INFINITY],
  ])('cannot be %d of %d', (done, total) => {
    expect(() => progress(done, total)).toThrow(RangeError);
  });

  it.each([
    undefined,
    7,
    {},
    { aggregate: 7 },
    { aggregate: { progress: '50', total: 100 } },
    { aggregate: { progress: 2, total: 1 } },
    { aggregate: { progress: -1, total: 1 } },
  ])('with invalid numbers is ignored: %j [R-EXT-07]', (value) => {
    const status = { state: 'TASK_STATE_WORKING' as const };
    const statusUpdate = { taskId: 't', contextId: 'c', status, metadata: { [TASK_PROGRESS]: value } };
    expect(progressOf({ statusUpdate })).toBeUndefined();
  });
});
