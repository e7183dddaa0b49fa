import type { AgentEvent } from '@batonjs/client';
import { inGenerationOrder } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';

const status = (generation?: string): AgentEvent => ({
  statusUpdate: {
    taskId: 't',
    contextId: 'c',
    status: { state: 'TASK_STATE_WORKING' },
    ...(generation !== undefined && { generation }),
  },
});

describe('a stream with generations', () => {
  /** The generations of what a follower gets; a task that was read in between is in brackets. */
  async function seen(given: readonly (string | undefined)[], read = '9'): Promise<string[]> {
    const events = (async function* () {
      for (const generation of given) yield status(generation);
    })();
    const task: Task = { id: 't', status: { state: 'TASK_STATE_WORKING' }, generation: read };
    const words: string[] = [];
    for await (const { task: whole, statusUpdate } of inGenerationOrder(events, async () => task))
      words.push(whole ? `[${whole.generation}]` : String(statusUpdate?.generation));
    return words;
  }

  it.each<[string, (string | undefined)[], string[]]>([
    ['without a gap passes as it is', ['1', '2', '3'], ['1', '2', '3']],
    ['without generations too', [undefined, undefined], ['undefined', 'undefined']],
    ['with a gap: the task is read, what it contains is dropped', ['1', '4', '9', '10'], ['1', '[9]', '10']],
    ['with a gap that the task does not reach yet', ['1', '12'], ['1', '[9]', '12']],
    ['that goes back drops older events', ['3', '2', '4'], ['3', '4']],
    [
      'with one value twice is in the order of the stream from there on',
      ['1', '1', '7', '2'],
      ['1', '1', '7', '2'],
    ],
    ['with 0 too', ['1', '0', '7'], ['1', '0', '7']],
  ])('%s [R-P11-12] [R-P11-16]', async (_, given, expected) => {
    expect(await seen(given)).toEqual(expected);
  });
});
