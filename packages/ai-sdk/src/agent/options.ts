import { data, type TaskUpdate, type Turn, text, working } from '@batonjs/server';
import type { FetchFileOptions } from '@batonjs/server/address-policy';
import type { ModelPrices } from '@batonjs/server/internals';
import type { FinishReason, LanguageModel, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import { AI_SDK } from '../metadata.ts';
import type { QuestionText } from './questions.ts';

/** What `streamedAgent` gives for one turn. */
export interface ModelTurn<AnyTurn extends Turn = Turn> {
  /**
   * The conversation: completed tasks of the context, then this task, with what was kept at its questions and the answers
   * to them. Pass it on whole; the SDK runs approved tools by its end.
   */
  readonly messages: ModelMessage[];
  /** Aborted with the turn. Pass it on as `abortSignal`. */
  readonly signal: AbortSignal;
  readonly turn: AnyTurn;
  /**
   * A model whose answers are steps of the turn: after a crash, finished ones are not paid for again. Calls that run at
   * the same time need a `name` each, in which they are numbered.
   */
  model(model: LanguageModel, name?: string): LanguageModel;
  /** Tools whose results are steps of the turn: after a crash, finished ones do not run again. Results become JSON. */
  tools<Tools extends ToolSet>(tools: Tools): Tools;
}

/** A stream of the AI SDK: the result of `streamText`, or of the `stream` method of its agents. */
export interface ModelStream {
  readonly stream: AsyncIterable<TextStreamPart<ToolSet>>;
  readonly responseMessages?: PromiseLike<readonly ModelMessage[]>;
}

/** Options of `streamedAgent`. */
export interface StreamedAgentOptions {
  /** The name of the artifact with the answer. Default `answer`. */
  readonly artifact?: string | undefined;
  /**
   * Whether the artifact ends with its whole text once more, as its last chunk, for clients that keep only this one, such
   * as Google's ADK. Default false: it ends with an empty chunk.
   */
  readonly whole?: boolean | undefined;
  /** How text is put together: by default up to 1,024 bytes, for at most 100 milliseconds. */
  readonly coalesce?: { readonly bytes?: number; readonly ms?: number } | undefined;
  /**
   * How many completed tasks of the context the model reads before this task, the newest: 0 to 100. `context` is 20,
   * `task` is 0. Default `context`.
   */
  readonly memory?: 'context' | 'task' | { readonly tasks: number } | undefined;
  /** What clients see of tools. Default `names`. */
  readonly shownTools?: ShownTools | undefined;
  /** Whether the reasoning of the model becomes an artifact `reasoning`. Default false: clients do not see it. */
  readonly showReasoning?: boolean | undefined;
  /** With which reasons a stream must end to complete the task. Default `['stop']`. */
  readonly complete?: readonly FinishReason[] | undefined;
  /** The words of a question about tool calls. Clients also get the calls as data. */
  readonly question?: QuestionText | undefined;
  /**
   * How files are fetched that a message names by URL, where the model does not fetch them by itself. Default: as
   * `fetchFile` does, which refuses addresses inside of this network.
   */
  readonly files?: FetchFileOptions | undefined;
  /**
   * Keeps what models are asked beside their answers, as text, for people who may `read-prompts` in an inspector: of each call
   * up to 16,384 bytes, or `bytes` (1 to 262,144), the instructions and the newest messages first. Default: nothing is kept.
   */
  readonly keepPrompts?: boolean | { readonly bytes: number } | undefined;
  /**
   * What models cost: each call is recorded with its cost, and keeps it when prices change. A model without a price is
   * recorded with its tokens. Default: no cost is recorded.
   */
  readonly prices?: ModelPrices | undefined;
  /**
   * Sees the errors of models, of which clients are told nothing. What it throws or rejects with, the agent throws, so that `retry` of the
   * server runs the turn again. Default: errors are dropped, and the task fails.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * What clients see of the agent's tools: `names`, which tool is called; `data`, also inputs and results; or nothing. They
 * never see why a tool failed.
 */
type ShownTools = 'names' | 'data' | 'none';

/** A call or a result of a tool as progress of the task; undefined for other parts, and for those that are not shown. */
export function toolUpdate(part: TextStreamPart<ToolSet>, shown: ShownTools): TaskUpdate | undefined {
  if (shown === 'none') return undefined;
  const isData = shown === 'data';
  switch (part.type) {
    case 'tool-call':
      return progress(
        part,
        'called',
        isData ? { input: part.input } : {},
        `Calls ${part.title ?? part.toolName}`,
      );
    case 'tool-result':
      return part.preliminary || !isData ? undefined : progress(part, 'done', { output: part.output });
    case 'tool-error':
      return isData ? progress(part, 'failed') : undefined;
    case 'tool-output-denied':
      return isData ? progress(part, 'denied') : undefined;
    default:
      return undefined;
  }
}

function progress(
  { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
  state: string,
  more: object = {},
  words?: string,
): TaskUpdate {
  const about = data({ toolCallId, toolName, state, ...more }, { mediaType: 'application/json' });
  return working({
    messageId: crypto.randomUUID(),
    role: 'ROLE_AGENT',
    parts: words ? [text(words), about] : [about],
    metadata: { [AI_SDK]: {} },
  });
}
