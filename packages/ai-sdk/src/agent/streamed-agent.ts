import { type Agent, type TaskUpdate, type Turn, taskAgent, type Updates } from '@batonjs/server';
import { PriceTable } from '@batonjs/server/internals';
import type { ToolSet } from 'ai';
import { promptBytes } from '../durable/kept-prompt.ts';
import { type RecordedCalls, recordedCalls } from '../durable/model-call.ts';
import { type RecordedModelOptions, recordedModel, type StoredCall } from '../durable/recorded-model.ts';
import { recordedTools } from '../durable/recorded-tools.ts';
import { type HistoryOptions, historyOf } from '../history/task-messages.ts';
import { toolQuestionsKey } from '../tool-questions.ts';
import { answerOf } from './answer.ts';
import type { ModelStream, ModelTurn, StreamedAgentOptions } from './options.ts';
import { pendingQuestionsOf, questionAgain } from './questions.ts';

/**
 * An agent that answers with a stream of the AI SDK. Its text becomes an artifact, coalesced; a tool that needs approval,
 * or has no `execute`, becomes a question; a cancel aborts it; the tokens used are in the metadata. Use
 * `restart: 'rerun'` of the server, so that another process goes on after a crash. Throws `RangeError` for a `memory` or
 * `keepPrompts` that is out of bounds, and `TypeError` for `prices` that cannot be meant so.
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
  const history = { tasks: tasksIn(options.memory), artifact: options.artifact ?? 'answer' };
  const recorded = { files: options.files, promptBytes: bytesIn(options.keepPrompts) };
  const prices = options.prices && new PriceTable(options.prices, 'prices');
  const settings = { options, history, recorded, prices };
  return taskAgent((turn) => updatesOf(run, settings, turn as AnyTurn)) as Agent as (
    turn: AnyTurn,
  ) => AsyncIterable<TaskUpdate>;
}

/** How many completed tasks of its context a model reads. */
function tasksIn(memory: StreamedAgentOptions['memory'] = 'context'): number {
  if (memory === 'context') return 20;
  if (memory === 'task') return 0;
  const { tasks } = memory;
  if (Number.isInteger(tasks) && tasks >= 0 && tasks <= 100) return tasks;
  throw new RangeError(`\`memory.tasks\` must be a whole number from 0 to 100, not ${tasks}`);
}

/** How many bytes of a prompt are kept; undefined for none. */
function bytesIn(kept: StreamedAgentOptions['keepPrompts'] = false): number | undefined {
  if (typeof kept === 'boolean') return kept ? promptBytes : undefined;
  const { bytes } = kept;
  if (Number.isInteger(bytes) && bytes >= 1 && bytes <= mostPromptBytes) return bytes;
  throw new RangeError(
    `\`keepPrompts.bytes\` must be a whole number from 1 to ${mostPromptBytes}, not ${bytes}`,
  );
}

const mostPromptBytes = 262_144;

/** The options of an agent, read once. */
interface Settings {
  readonly options: StreamedAgentOptions;
  readonly history: HistoryOptions;
  readonly recorded: RecordedModelOptions;
  readonly prices: PriceTable | undefined;
}

async function* updatesOf<AnyTurn extends Turn>(
  run: (turn: ModelTurn<AnyTurn>) => ModelStream | PromiseLike<ModelStream>,
  { options, history, recorded, prices }: Settings,
  turn: AnyTurn,
): Updates {
  const { messages, resumed, given, undecided } = await historyOf(turn, history);
  if (undecided.length > 0) return yield questionAgain(undecided, turn, options.question);
  const pendingQuestions = pendingQuestionsOf(turn, resumed);
  const calls = new Map<string, RecordedCalls<StoredCall>>();
  const callsOf = (name: string): RecordedCalls<StoredCall> => {
    const known = calls.get(name) ?? recordedCalls<StoredCall>(turn, name, prices);
    calls.set(name, known);
    return known;
  };
  const tools: ToolSet = {};
  try {
    const stream = await run({
      messages,
      signal: turn.signal,
      turn: Object.create(turn, { [toolQuestionsKey]: { value: pendingQuestions } }),
      model: (model, name = 'model') =>
        recordedModel(model, callsOf(name), (ids) => pendingQuestions.expect(ids), {
          ...recorded,
          file: turn.file,
        }),
      tools: (own) => recordedTools(Object.assign(tools, own) as typeof own, turn),
    });
    yield* answerOf(stream, { options, turn, pendingQuestions, tools, given }).updates();
  } finally {
    for (const each of calls.values()) each.close();
  }
}
