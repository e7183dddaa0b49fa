import { decodeSse } from '@batonjs/bindings';
import { append, artifact, completed, data, inputRequired, type TaskUpdate, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { until } from '../../../test/kit/until.ts';
import { agUiHandler } from '../src/ag-ui-handler.ts';

type Handler = ReturnType<typeof agUiHandler>;

interface Frame {
  /** The last position that the stream has named so far. */
  readonly id?: string | undefined;
  readonly event: {
    readonly type: string;
    readonly delta?: unknown;
    readonly content?: { readonly taskId: string };
  };
}

/** The events of a run, one after another. */
async function* runOf(handler: Handler, headers: Record<string, string> = {}): AsyncGenerator<Frame, void> {
  const messages = [{ id: 'm-1', role: 'user', content: 'Hello' }];
  const response = await handler.fetch(
    new Request('http://localhost', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ threadId: 'thread-1', runId: 'run-1', messages, tools: [], context: [] }),
    }),
  );
  for await (const { id, data } of decodeSse(response.body!)) yield { id, event: JSON.parse(data) };
}

const all = async (frames: AsyncIterable<Frame>): Promise<Frame[]> => {
  const read: Frame[] = [];
  for await (const frame of frames) read.push(frame);
  return read;
};

/** What a front end keeps of a run: texts, state, calls and the end. */
const kept = (frames: readonly Frame[]): unknown[] =>
  frames
    .filter(({ event }) => /CONTENT|STATE_DELTA|STEP_STARTED|RUN_FINISHED/.test(event.type))
    .map(({ event }) => [event.type, event.delta]);

describe('a run that was cut off', () => {
  it('continues after the last event, without a piece twice or lost', async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve(async function* () {
      yield working('Thinking');
      yield artifact('answer', 'Half ');
      await gate.promise;
      yield append('answer', '.');
      yield completed();
    });
    const handler = agUiHandler(server);
    const before: Frame[] = [];
    for await (const frame of runOf(handler)) {
      before.push(frame);
      if (frame.event.delta === 'Half ') break;
    }
    gate.resolve();
    const position = before.at(-1)?.id ?? '';
    const after = await all(runOf(handler, { 'last-event-id': position }));
    const types = after.map(({ event }) => event.type);
    // It may be cut off again.
    expect(after.at(-1)?.id).toMatch(/./);
    expect(after.at(-1)?.id).not.toBe(position);
    expect(types).not.toContain('MESSAGES_SNAPSHOT');
    expect(kept(after)).toEqual([
      ['TEXT_MESSAGE_CONTENT', '.'],
      ['RUN_FINISHED', undefined],
    ]);
    expect(after.at(-1)?.event).toMatchObject({ outcome: { type: 'success' } });
    const { content } = after.find(({ event }) => event.type === 'ACTIVITY_SNAPSHOT')!.event;
    await until(server, content!.taskId, 'COMPLETED');
  });

  const whole = artifact({ artifactId: 'mixed' }, 'One', data({ two: 2 }), data({ three: 3 }));
  it.each<[string, readonly TaskUpdate[]]>([
    ['ends', [working('Thinking'), whole, append('mixed', ' and more'), completed('Done')]],
    ['asks', [working('Thinking'), whole, inputRequired('Which?')]],
  ])(
    'at any event, where the answer %s, loses nothing of what stands after its last position',
    async (_, updates) => {
      const handler = agUiHandler(
        serve(async function* () {
          yield* updates;
        }),
      );
      const frames = await all(runOf(handler));
      expect(kept(frames).length).toBeGreaterThan(4);
      for (let count = 1; count < frames.length; count += 1) {
        const id = frames[count - 1]?.id;
        // Before the first position, the run begins again.
        if (id === undefined) continue;
        // What was seen after the position comes again.
        const seen = frames.slice(0, frames.findIndex((frame) => frame.id === id) + 1);
        const after = await all(runOf(handler, { 'last-event-id': id }));
        expect(kept([...seen, ...after]), `cut after ${count} events`).toEqual(kept(frames));
      }
    },
  );
});
