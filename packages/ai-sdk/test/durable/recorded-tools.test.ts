import type { Turn } from '@batonjs/server';
import { type Tool, type ToolSet, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isDurable, recordedTools } from '../../src/durable/recorded-tools.ts';
import { inTurn } from '../in-turn.ts';

/** What stands beside the result of a tool. */
const called = (name: string) => ({ name, ms: expect.toSatisfy((ms: number) => Number.isInteger(ms)) });

describe('tools whose results are steps', () => {
  const options = (toolCallId = 'c') => ({ toolCallId, messages: [], context: {} }) as never;
  const run = (tools: ToolSet, name: string, toolCallId?: string) =>
    (tools[name] as Tool).execute!({ a: 1 } as never, options(toolCallId)) as Promise<unknown>;

  it('run once, and give the same in a later attempt', async () => {
    let runs = 0;
    const own: ToolSet = {
      look: tool({
        inputSchema: z.object({}),
        execute: async (input) => {
          runs += 1;
          return { run: runs, input };
        },
      }),
      fail: tool({
        inputSchema: z.object({}),
        execute: async (): Promise<string> => {
          runs += 1;
          throw Object.assign(new RangeError('Too far'), { code: 7 });
        },
      }),
      odd: { inputSchema: z.object({}), execute: () => Promise.reject('words') } as never,
    };
    const perform = async (turn: Turn) => {
      const tools = recordedTools(own, turn);
      const failures = await Promise.allSettled([run(tools, 'fail', 'f'), run(tools, 'odd', 'o')]);
      return [
        await run(tools, 'look'),
        await run(tools, 'look'),
        await run(tools, 'look'),
        failures.map((each) => (each.status === 'rejected' ? each.reason : undefined)),
      ];
    };
    const first = await inTurn(perform);
    expect(first.steps).toEqual({
      'tool c': { output: { run: 2, input: { a: 1 } }, toolCall: called('look') },
      'tool c (2)': { output: { run: 3, input: { a: 1 } }, toolCall: called('look') },
      'tool c (3)': { output: { run: 4, input: { a: 1 } }, toolCall: called('look') },
      'tool f': { error: 'Too far', toolCall: called('fail') },
      'tool o': { error: 'words', toolCall: called('odd') },
    });
    expect(first.given[3]).toEqual([expect.objectContaining({ code: 7 }), 'words']);
    const second = await inTurn(perform, { attempt: 2, steps: first.steps });
    expect([runs, second.given.slice(0, 3)]).toEqual([4, first.given.slice(0, 3)]);
    expect(second.given[3]).toEqual([new Error('Too far'), new Error('words')]);
  });

  it('give the last of what they yield, and show the others on the way', async () => {
    async function* steps() {
      yield 'one';
      yield 'two';
    }
    const own: ToolSet = {
      shows: tool({ inputSchema: z.object({}), execute: steps }),
      returns: tool({ inputSchema: z.object({}), execute: () => steps() as unknown as Promise<string> }),
      nothing: tool({ inputSchema: z.object({}), execute: async () => null }),
      breaks: tool({
        inputSchema: z.object({}),
        async *execute() {
          yield 'one';
          throw new Error('Broken');
        },
      }),
    };
    const shownBy = async (tools: ToolSet, name: string) => {
      const shown: unknown[] = [];
      const running = run(tools, name, name) as unknown as AsyncIterable<unknown>;
      try {
        for await (const each of running) shown.push(each);
      } catch (error) {
        shown.push((error as Error).message);
      }
      return shown;
    };
    const perform = async (turn: Turn) => {
      const tools = recordedTools(own, turn);
      return [
        await shownBy(tools, 'shows'),
        await shownBy(tools, 'breaks'),
        await run(tools, 'returns', 'returns'),
        await run(tools, 'nothing', 'nothing'),
      ];
    };
    const first = await inTurn(perform);
    expect(first.given).toEqual([['one', 'two', 'two'], ['one', 'Broken'], 'two', null]);
    expect(first.steps).toEqual({
      'tool shows': { output: 'two', toolCall: called('shows') },
      'tool breaks': { error: 'Broken', toolCall: called('breaks') },
      'tool returns': { output: 'two', toolCall: called('returns') },
      'tool nothing': { output: null, toolCall: called('nothing') },
    });
    const second = await inTurn(perform, { attempt: 2, steps: first.steps });
    expect(second.given).toEqual([['two'], ['Broken'], 'two', null]);
  });

  it('are left as they are where they do not run here, or are durable by themselves', async () => {
    await inTurn(async (turn) => {
      const own = {
        far: tool({ inputSchema: z.object({}), outputSchema: z.string() }),
        durable: Object.assign(tool({ inputSchema: z.object({}), execute: async () => 1 }), {
          [isDurable]: true,
        }),
        near: tool({ inputSchema: z.object({}), execute: async () => 1 }),
      };
      const tools = recordedTools(own, turn);
      expect([tools.far === own.far, tools.durable === own.durable, tools.near === own.near]).toEqual([
        true,
        true,
        false,
      ]);
      expect(Symbol.keyFor(isDurable)).toBe('batonjs.ai-sdk.durable');
    });
  });
});
