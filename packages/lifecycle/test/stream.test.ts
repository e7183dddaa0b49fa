import { type Fact, toStreamResponse } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import {
  answer,
  artifact,
  at,
  cancel,
  create,
  endTurn,
  given,
  receive,
  reply,
  startTurn,
  step,
  take,
  to,
  wake,
} from './given.ts';

const task = { id: 'task', contextId: 'context' };
const shown = (facts: readonly Fact[]) => facts.map((fact) => toStreamResponse(task, fact));

describe('a stream', () => {
  it('shows status changes and artifacts in the order they happened, and nothing else [R-STR-01, R-STR-03]', () => {
    const { facts } = given(
      receive('m1'),
      create,
      startTurn,
      to('WORKING', 'w1'),
      receive('m2'),
      take('m2'),
      step('s1', 1),
      artifact('a1'),
      artifact('a1', ['more'], { append: true, lastChunk: true }),
      wake,
      cancel,
      endTurn,
      to('CANCELED'),
    );
    const ids = { taskId: 'task', contextId: 'context' };
    expect(shown(facts).filter((event) => event !== undefined)).toStrictEqual([
      {
        statusUpdate: {
          ...ids,
          status: {
            state: 'TASK_STATE_WORKING',
            message: { messageId: 'w1', role: 'ROLE_AGENT', parts: [{ text: 'w1' }], ...ids },
            timestamp: at(3),
          },
        },
      },
      { artifactUpdate: { ...ids, artifact: { artifactId: 'a1', parts: [{ text: 'a1' }] } } },
      {
        artifactUpdate: {
          ...ids,
          artifact: { artifactId: 'a1', parts: [{ text: 'more' }] },
          append: true,
          lastChunk: true,
        },
      },
      { statusUpdate: { ...ids, status: { state: 'TASK_STATE_CANCELED', timestamp: at(12) } } },
    ]);
  });

  it('shows every repeated status, each with its own time [R-STATE-19]', () => {
    const { facts } = given(receive('m1'), create, to('WORKING'), to('WORKING'), to('WORKING'));
    const events = shown(facts).filter((event) => event !== undefined);
    expect(events.map((event) => 'statusUpdate' in event && event.statusUpdate.status.timestamp)).toEqual([
      at(2),
      at(3),
      at(4),
    ]);
  });

  it('that is a message shows exactly that message [R-STR-01]', () => {
    const { facts } = given(receive('m1'), startTurn, answer('r1'));
    expect(shown(facts).filter((event) => event !== undefined)).toStrictEqual([
      { message: { ...reply('r1'), contextId: 'context' } },
    ]);
  });

  it('carries the metadata of an event, which is not in the task [R-DM-08, R-DM-09]', () => {
    const metadata = { progress: 0.5 };
    const log = given(receive('m1'), create, artifact('a1', ['x'], { metadata }), {
      type: 'update',
      update: { status: { state: 'TASK_STATE_WORKING' }, metadata },
    });
    const events = shown(log.facts).filter((event) => event !== undefined);
    expect(events).toMatchObject([{ artifactUpdate: { metadata } }, { statusUpdate: { metadata } }]);
    expect(JSON.stringify(log.now.task)).not.toContain('progress');
  });

  it('grows by one with every generation, except that a task is created', () => {
    const commands = [
      receive('m1'),
      create,
      startTurn,
      to('WORKING'),
      artifact('a1'),
      cancel,
      to('CANCELED'),
    ];
    for (let count = 1; count <= commands.length; count++) {
      const { facts, now, head } = given(...commands.slice(0, count));
      const events = shown(facts).filter((event) => event !== undefined).length;
      expect(now.generation).toBe(events + (count > 1 ? 1 : 0));
      expect(head?.generation).toBe(now.generation);
    }
    expect(given(receive('m1'), startTurn, answer('r1')).now.generation).toBe(1);
  });
});
