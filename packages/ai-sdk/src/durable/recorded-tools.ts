import type { Turn } from '@batonjs/server';
import type { Tool, ToolSet } from 'ai';

/** Marks a tool that is durable by itself, so that its result is no step. */
export const isDurable = Symbol.for('batonjs.ai-sdk.durable');

type Execute = NonNullable<Tool['execute']>;

/** What a step keeps of an execution; `toolCall` is for those who run the agent. */
type Outcome = { readonly toolCall: { readonly name: string; readonly ms: number } } & (
  | { readonly output?: unknown }
  | { readonly error: string }
);

/** A call of a tool, and the step that keeps it. */
interface Use {
  readonly step: string;
  readonly tool: string;
}

/**
 * Tools whose results, errors included, are steps of a turn: a later attempt gets what an earlier one recorded, and does
 * not run the tool again. Results become JSON.
 */
export function recordedTools<Tools extends ToolSet>(tools: Tools, turn: Turn): Tools {
  const uses = new Map<string, number>();
  const callOf = (tool: string, toolCallId: string): Use => {
    const use = (uses.get(toolCallId) ?? 0) + 1;
    uses.set(toolCallId, use);
    // Some models use an id again.
    return { step: use === 1 ? `tool ${toolCallId}` : `tool ${toolCallId} (${use})`, tool };
  };
  const recorded = (name: string, execute: Execute): Execute => {
    const used = (toolCallId: string) => callOf(name, toolCallId);
    const run = (input: unknown, options: Parameters<Execute>[1]) =>
      runOnce(turn, used(options.toolCallId), () => execute(input, options));
    return execute instanceof AsyncGeneratorFunction ? stepwise(turn, used, execute) : run;
  };
  const entries = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as Tool;
    return [
      name,
      execute && !(isDurable in tool) ? { ...tool, execute: recorded(name, execute as Execute) } : tool,
    ];
  });
  return Object.fromEntries(entries) as Tools;
}

async function runOnce(turn: Turn, { step, tool }: Use, execute: () => unknown): Promise<unknown> {
  let failure: { readonly error: unknown } | undefined;
  const outcome = (await turn.step(step, async (): Promise<Outcome> => {
    const from = performance.now();
    const toolCall = () => ({ name: tool, ms: Math.round(performance.now() - from) });
    try {
      return { output: await lastOf(execute()), toolCall: toolCall() };
    } catch (error) {
      // Canceled, or given to another process: that is no result.
      turn.signal.throwIfAborted();
      failure = { error };
      return { error: error instanceof Error ? error.message : String(error), toolCall: toolCall() };
    }
  })) as Outcome;
  if (failure) throw failure.error;
  if ('error' in outcome) throw new Error(outcome.error);
  return outcome.output;
}

/** A tool that shows what it has before it ends. Of a recorded one, only the end is given. */
const stepwise = (turn: Turn, used: (toolCallId: string) => Use, execute: Execute): Execute =>
  async function* (input: unknown, options: Parameters<Execute>[1]) {
    const shown: unknown[] = [];
    let changed = Promise.withResolvers<void>();
    let isOver = false;
    const ending = runOnce(turn, used(options.toolCallId), async () => {
      let last: unknown;
      for await (last of execute(input, options) as AsyncIterable<unknown>) {
        shown.push(last);
        changed.resolve();
      }
      return last;
    }).finally(() => {
      isOver = true;
      changed.resolve();
    });
    ending.catch(() => {});
    for (;;) {
      yield* shown.splice(0);
      if (isOver) break;
      await changed.promise;
      changed = Promise.withResolvers();
    }
    yield await ending;
  } as Execute;

const AsyncGeneratorFunction = async function* () {}.constructor as { new (): unknown };

/** The last value of a tool that returns an iterable; the value itself of any other. */
async function lastOf(returned: unknown): Promise<unknown> {
  const value = await returned;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (last of value as AsyncIterable<unknown>);
  return last;
}
