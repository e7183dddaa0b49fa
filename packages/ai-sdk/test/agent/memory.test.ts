import type { Part, Task } from '@batonjs/protocol';
import type { Agent } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { streamText } from 'ai';
import { describe, expect, it } from 'vitest';
import { type StreamedAgentOptions, streamedAgent } from '../../src/index.ts';
import { linesOf, scriptedModel, text } from '../scripted-model.ts';

/** A completed task with artifacts by name. */
const task = (number: number, artifacts: Readonly<Record<string, Part[]>>): Task => ({
  id: `task-${number}`,
  contextId: 'context',
  status: { state: 'TASK_STATE_COMPLETED' },
  history: [{ messageId: `m-${number}`, role: 'ROLE_USER', parts: [{ text: `Question ${number}` }] }],
  artifacts: Object.entries(artifacts).map(([artifactId, parts]) => ({ artifactId, parts })),
});

/** What the model reads of these tasks. */
async function readOf(contextTasks: readonly Task[], options: StreamedAgentOptions = {}): Promise<string[]> {
  const model = scriptedModel(text('Yes'));
  const agent = streamedAgent(
    (turn) => streamText({ model: turn.model(model), messages: turn.messages }),
    options,
  ) as Agent;
  await runTurn(agent, 'Now', { contextTasks });
  return linesOf(model, 1).slice(0, -1);
}

describe('of earlier tasks, a model reads', () => {
  it('the answer and other results apart, and neither reasoning nor sources', async () => {
    const artifacts = {
      reasoning: [{ text: 'Perhaps' }],
      answer: [{ text: 'It is ' }, { text: 'so' }],
      result: [{ data: { degrees: 7 } }],
      sources: [{ data: [{ url: 'https://example.com' }] }],
    };
    expect(await readOf([task(1, artifacts)])).toEqual([
      'user: Question 1',
      'assistant: It is so\n\n{"degrees":7}',
    ]);
    expect(await readOf([task(1, artifacts)], { artifact: 'reasoning' })).toContainEqual(
      expect.stringContaining('Perhaps'),
    );
  });

  it('the newest ones: 20, unless the agent remembers more or fewer', async () => {
    const tasks = Array.from({ length: 25 }, (_, n) =>
      task(n + 1, { answer: [{ text: `Answer ${n + 1}` }] }),
    );
    const first = async (memory?: StreamedAgentOptions['memory']) =>
      (await readOf(tasks, memory && { memory }))[0];
    expect(await first()).toBe('user: Question 6');
    expect(await first('context')).toBe('user: Question 6');
    expect(await first({ tasks: 2 })).toBe('user: Question 24');
    expect(await first({ tasks: 100 })).toBe('user: Question 1');
    expect(await first({ tasks: 0 })).toBeUndefined();
    expect(await first('task')).toBeUndefined();
  });

  it.each([-1, 101, 1.5, Number.NaN])('no number of them that is out of bounds: %s', (tasks) => {
    const run = () => streamText({ model: scriptedModel(), prompt: '' });
    expect(() => streamedAgent(run, { memory: { tasks } })).toThrow(RangeError);
  });
});
