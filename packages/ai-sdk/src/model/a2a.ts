import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider';
import type { AgentClient } from '@batonjs/client';
import { taskContent, withMade } from '@batonjs/client/answers';
import type { Callee } from '@batonjs/nested-tasks';
import type { Task } from '@batonjs/protocol';
import { cancelableStream } from '../cancelable-stream.ts';
import { connected } from '../connected.ts';
import { streamOf } from '../durable/stream-of.ts';
import { messageOf } from './prompt-message.ts';
import { ReplyParts } from './reply-parts.ts';

/** Options of `a2a`. */
export interface A2AModelOptions {
  /** The context in which every conversation begins. Default: one of its own. */
  readonly contextId?: string | undefined;
  /** Connects to an agent by its URL. Default: `connect` of the client. */
  readonly connect?: ((url: string) => Promise<AgentClient>) | undefined;
}

/** An agent as a language model. */
export type A2AModel = LanguageModelV4;

/**
 * An agent where the AI SDK expects a language model. It sends the latest message of the prompt; the agent remembers its
 * context. The metadata of the answer name it (`providerMetadata.a2a`: `contextId`, `taskId`, `state`, and `message`, what
 * the agent said at the end), and the next prompt brings it back. `providerOptions.a2a.contextId` names one. A question of
 * the agent is an answer whose `state` is `TASK_STATE_INPUT_REQUIRED`; the next prompt answers it. A task that FAILED or
 * was REJECTED is an error. Aborting cancels the task. The agent says nothing about tokens; settings of models, and tools,
 * are ignored with a warning.
 */
export function a2a(agent: Callee, { contextId, connect }: A2AModelOptions = {}): A2AModel {
  let opening: Promise<AgentClient> | undefined;
  const open = (): Promise<AgentClient> => {
    opening ??= connected(agent, connect);
    // The next call connects again.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  const parts = async (options: LanguageModelV4CallOptions) => partsOf(await open(), options, contextId);
  return {
    specificationVersion: 'v4',
    provider: 'a2a',
    modelId: nameOf(agent),
    supportedUrls: { '*/*': [/^https?:/] },
    async doStream(options) {
      return { stream: streamOf(settled(await parts(options))) };
    },
    async doGenerate(options) {
      const content: LanguageModelV4Content[] = [];
      let end: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
      for await (const part of await parts(options)) {
        if (part.type === 'finish') end = part;
        else collect(content, part);
      }
      return {
        content,
        finishReason: end?.finishReason ?? stop,
        usage: noUsage,
        warnings: warningsFor(options),
        ...(end?.providerMetadata && { providerMetadata: end.providerMetadata }),
      };
    },
  };
}

async function* partsOf(
  client: AgentClient,
  options: LanguageModelV4CallOptions,
  contextId: string | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const { prompt, abortSignal: signal, providerOptions, responseFormat } = options;
  const isJson = responseFormat?.type === 'json';
  const { parts, taskId, contextId: continued = contextId } = messageOf(prompt, providerOptions);
  yield { type: 'stream-start', warnings: warningsFor(options) };
  const { stream, events } = cancelableStream(client, parts, {
    signal,
    ...(taskId && { task: taskId }),
    ...(continued && { contextId: continued }),
    ...(isJson && { configuration: { acceptedOutputModes: ['application/json'] } }),
  });
  const reply = new ReplyParts(isJson);
  let answeredIn: string | undefined;
  for await (const event of events) {
    answeredIn = event.message?.contextId ?? answeredIn;
    yield* reply.event(event);
  }
  const { task } = stream;
  if (task && !goodEnds.has(task.status.state)) throw new AgentTaskError(task);
  const a2a = metadataOf(task, answeredIn);
  yield* reply.end(task, { a2a });
  yield { type: 'finish', finishReason: stop, usage: noUsage, providerMetadata: { a2a } };
}

/** The parts, with an error as a part: what streams of models do. */
async function* settled(
  parts: AsyncGenerator<LanguageModelV4StreamPart>,
): AsyncGenerator<LanguageModelV4StreamPart> {
  try {
    yield* parts;
  } catch (error) {
    yield { type: 'error', error };
    yield { type: 'finish', finishReason: { unified: 'error', raw: undefined }, usage: noUsage };
  }
}

/** A task of the agent ended without an answer. */
export class AgentTaskError extends Error {
  override readonly name = 'AgentTaskError';
  readonly task: Task;

  constructor(task: Task) {
    const { state } = task.status;
    const { said } = taskContent(task);
    super(withMade(`The task of the agent ended as ${state}${said.text && `: ${said.text}`}`, task));
    this.task = task;
  }
}

const goodEnds: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
]);

const metadataOf = (task: Task | undefined, answeredIn: string | undefined): JSONObject => {
  const contextId = task?.contextId ?? answeredIn;
  const message = task && taskContent(task).said.text;
  return {
    ...(contextId && { contextId }),
    ...(task && { taskId: task.id, state: task.status.state }),
    ...(message && { message }),
  };
};

const nameOf = (agent: Callee): string => {
  if (typeof agent === 'string') return agent;
  if (agent instanceof URL) return agent.href;
  return 'card' in agent ? (agent.card.name ?? 'agent') : 'agent';
};

/** Adds a part of a stream to what `doGenerate` gives. */
function collect(content: LanguageModelV4Content[], part: LanguageModelV4StreamPart): void {
  switch (part.type) {
    case 'text-start':
      content.push({ type: 'text', text: '', providerMetadata: part.providerMetadata });
      return;
    case 'reasoning-start':
      content.push({ type: 'reasoning', text: '' });
      return;
    case 'text-delta':
    case 'reasoning-delta': {
      const kind = part.type === 'text-delta' ? 'text' : 'reasoning';
      const last = content.findLast((each) => each.type === kind) as { text: string };
      last.text += part.delta;
      return;
    }
    case 'file':
    case 'source':
      content.push(part);
  }
}

const stop: LanguageModelV4FinishReason = { unified: 'stop', raw: undefined };

const noUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** The settings that an agent does not know. */
const warningsFor = (options: LanguageModelV4CallOptions): SharedV4Warning[] =>
  settings
    .filter((name) => options[name] !== undefined && !(name === 'tools' && options.tools?.length === 0))
    .map((feature) => ({ type: 'unsupported', feature, details: 'An agent decides this by itself' }));

const settings = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'tools',
] as const;
