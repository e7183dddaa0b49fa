import { type Agent, type TaskUpdate, type Turn, taskAgent, type Updates } from '@batonjs/server';
import type { ToolSet } from 'ai';
import { RecordedCalls } from '../durable/recorded-calls.ts';
import { recordedModel, type StoredCall } from '../durable/recorded-model.ts';
import { recordedTools } from '../durable/recorded-tools.ts';
import { handUpKey } from '../hand-up-key.ts';
import { historyOf } from '../history/task-messages.ts';
import { Answer } from './answer.ts';
import { HandUps } from './hand-up.ts';
import type { ModelStream, ModelTurn, StreamedAgentOptions } from './options.ts';

/**
 * An agent that answers with a stream of the AI SDK. Its text becomes an artifact, coalesced; a tool that needs approval,
 * or has no `execute`, becomes a question; a cancel aborts it; the tokens used are in the metadata. Use
 * `restart: 'rerun'` of the server, so that another process goes on after a crash.
 *
 * ```ts
 * import { streamText } from 'ai';
 *
 * const agent = streamedAgent(({ messages, signal, model }) =>
 *   streamText({ model: model('openai/gpt-5-mini'), messages, abortSignal: signal }),
 * );
 * ```
 */
export function streamedAgent<AnyTurn extends Turn = Turn>(
  run: (turn: ModelTurn<AnyTurn>) => ModelStream | PromiseLike<ModelStream>,
  options: StreamedAgentOptions = {},
): (turn: AnyTurn) => AsyncIterable<TaskUpdate> {
  return taskAgent((turn) => updatesOf(run, options, turn as AnyTurn)) as Agent as (
    turn: AnyTurn,
  ) => AsyncIterable<TaskUpdate>;
}

async function* updatesOf<AnyTurn extends Turn>(
  run: (turn: ModelTurn<AnyTurn>) => ModelStream | PromiseLike<ModelStream>,
  options: StreamedAgentOptions,
  turn: AnyTurn,
): Updates {
  const { memory = 'context', secret } = options;
  const { messages, resumed } = await historyOf(turn, { memory, secret });
  const handUps = new HandUps(turn, resumed);
  const calls = new Map<string, RecordedCalls<StoredCall>>();
  const callsOf = (name: string): RecordedCalls<StoredCall> => {
    const known = calls.get(name) ?? new RecordedCalls<StoredCall>(turn, name);
    calls.set(name, known);
    return known;
  };
  const tools: ToolSet = {};
  try {
    const stream = await run({
      messages,
      signal: turn.signal,
      turn: Object.create(turn, { [handUpKey]: { value: handUps } }),
      model: (model, name = 'model') =>
        recordedModel(model, callsOf(name), (ids) => handUps.expect(ids), options.files),
      tools: (given) => recordedTools(Object.assign(tools, given) as typeof given, turn),
    });
    yield* new Answer(stream, { options, turn, handUps, tools }).updates();
  } finally {
    for (const each of calls.values()) each.close();
  }
}
