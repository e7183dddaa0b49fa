import { answer, connect } from '@batonjs/client';
import { type Agent, completed, inputRequired as plainInputRequired, type Turn } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { frequentPolls } from '../../../test/kit/frequent-polls.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { FORM_INPUT } from '../src/client.ts';
import { extend, formInput, inputRequired, skill, typedSkills } from '../src/index.ts';
import { card } from './serve.ts';

const hourMs = 3_600_000;

/** Asks with a reminder, and ends when it is reminded. `asked`: how often it was called for a message. */
function reminded(ask: (turn: Turn) => ReturnType<typeof plainInputRequired>) {
  const seen = { asked: 0 };
  const agent: Agent = async function* (turn) {
    if (turn.woken) return yield completed('Reminded');
    seen.asked++;
    await turn.wakeAt(Date.now() + hourMs);
    yield ask(turn);
  };
  return { agent, seen };
}

const Size = z.object({ size: z.number() });
const form = reminded(() => inputRequired('Which?', { form: Size }));
const typed = reminded(() => plainInputRequired('Sure?'));

describe('a reminder that the agent asked for before a question', () => {
  it.each([
    ['a form', extend({ card, agent: form.agent }, formInput), form.seen, { data: { size: 'large' } }],
    [
      'the input of a skill',
      typedSkills(
        card,
        skill({
          id: 'size',
          name: 'Size',
          description: 'Takes a size',
          tags: [],
          input: Size,
          invalidInput: 'ask',
          // Without the last message, the input is the one that fits.
          read: ({ values, woken }) => (woken ? { size: 1 } : values),
          run: (turn) => typed.agent(turn) as AsyncGenerator<never>,
        }),
      ),
      typed.seen,
      { data: { size: 'large' } },
    ],
  ])('stays although an extension asks again: %s', async (what, extended, seen, refused) => {
    let passedMs = 0;
    const now = () => Date.now() + passedMs;
    const server = serve(extended.agent, {
      ...extended,
      store: memoryStore({ now }),
      clock: { ...frequentPolls(), now },
    });
    const agent = await connect('http://localhost', { fetch: server.fetch, extensions: [FORM_INPUT] });
    const first = what === 'the input of a skill' ? { parts: [{ data: { size: 1 } }] } : 'Go';
    const { task } = await agent.send(first);
    expect(task!.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const message =
      what === 'a form'
        ? answer(task!, { size: 'large' })
        : { taskId: task!.id, contextId: task!.contextId!, parts: [refused] };
    const { task: again } = await agent.send(message);
    expect(again!.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(seen.asked).toBe(1);
    passedMs = hourMs;
    await eventually(async () =>
      expect((await agent.getTask({ id: task!.id })).status).toMatchObject({
        state: 'TASK_STATE_COMPLETED',
        message: { parts: [{ text: 'Reminded' }] },
      }),
    );
  });
});
