import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { APICallError } from 'ai';
import type { KeptPrompt } from './kept-prompt.ts';

/** The tokens of a call, as far as the provider told them. */
export interface TokenUsage {
  /** All that were read, those from a cache and into it included. */
  readonly input?: number;
  /** All that were written, those of reasoning included. */
  readonly output?: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** A call of a model whose answer was not kept. */
export interface FailedCall {
  /** In milliseconds. */
  readonly ms: number;
  /** The status of HTTP, if the provider answered with one. */
  readonly status?: number;
  readonly usage?: TokenUsage;
}

/** What stands beside the recorded answer of a model, for those who run the agent. */
export interface ModelCall {
  readonly provider: string;
  readonly modelId: string;
  /** The model that answered, if it calls itself otherwise. */
  readonly responseModelId?: string;
  /** From the request to the end of the answer, in milliseconds. */
  readonly ms: number;
  /** Until the first words, reasoning or call of a tool, in milliseconds. */
  readonly firstMs?: number;
  readonly finishReason?: string;
  readonly usage?: TokenUsage;
  /** The tries of this attempt of the turn that failed before. */
  readonly failed?: readonly FailedCall[];
  readonly prompt?: KeptPrompt;
}

type Finish = Pick<Extract<LanguageModelV4StreamPart, { type: 'finish' }>, 'finishReason' | 'usage'>;

/** Measures one call of a model. */
export class CallMeter {
  readonly #model: Pick<LanguageModelV4, 'provider' | 'modelId'>;
  readonly #prompt: KeptPrompt | undefined;
  readonly #now: () => number;
  #from: number;
  #firstMs: number | undefined;
  #responseModelId: string | undefined;
  #finish: Finish | undefined;
  #status: number | undefined;

  constructor(
    model: Pick<LanguageModelV4, 'provider' | 'modelId'>,
    prompt?: KeptPrompt,
    now = () => performance.now(),
  ) {
    this.#model = model;
    this.#prompt = prompt;
    this.#now = now;
    this.#from = now();
  }

  /** The request leaves now. */
  start(): void {
    this.#from = this.#now();
  }

  /** Notes a part of the answer. */
  see(part: LanguageModelV4StreamPart): void {
    if (isSaid.has(part.type)) this.#firstMs ??= this.#ms();
    else if (part.type === 'response-metadata') this.#responseModelId = part.modelId;
    else if (part.type === 'finish') this.#finish = part;
    else if (part.type === 'error') this.#status = statusOf(part.error);
  }

  /** Notes a whole answer. */
  seeWhole(finish: Finish, responseModelId: string | undefined): void {
    this.#finish = finish;
    this.#responseModelId = responseModelId;
  }

  /** The call, whose answer is kept. */
  kept(failed: readonly FailedCall[]): ModelCall {
    const { provider, modelId } = this.#model;
    const other = this.#responseModelId;
    return {
      provider,
      modelId,
      ...(other !== undefined && other !== modelId && { responseModelId: other }),
      ms: this.#ms(),
      ...(this.#firstMs !== undefined && { firstMs: this.#firstMs }),
      ...(this.#finish && { finishReason: this.#finish.finishReason.unified }),
      ...this.#usage(),
      ...(failed.length > 0 && { failed }),
      ...(this.#prompt && { prompt: this.#prompt }),
    };
  }

  /** The call, whose answer is not kept. Its prompt, and the words of the error, are not either. */
  failed(error?: unknown): FailedCall {
    const status = statusOf(error) ?? this.#status;
    return { ms: this.#ms(), ...(status !== undefined && { status }), ...this.#usage() };
  }

  #ms(): number {
    return Math.round(this.#now() - this.#from);
  }

  #usage(): { usage?: TokenUsage } {
    const usage = this.#finish && usageOf(this.#finish.usage);
    return usage && Object.keys(usage).length > 0 ? { usage } : {};
  }
}

/** The parts with which a model begins to say something. */
const isSaid: ReadonlySet<string> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-call',
  'file',
]);

const statusOf = (error: unknown): number | undefined =>
  APICallError.isInstance(error) ? error.statusCode : undefined;

/** Models of other makers than the SDK's may leave anything out. */
function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage {
  const counts: Record<keyof TokenUsage, number | undefined> = {
    input: inputTokens?.total,
    output: outputTokens?.total,
    cachedInput: inputTokens?.cacheRead,
    cacheWrite: inputTokens?.cacheWrite,
    reasoning: outputTokens?.reasoning,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => Number.isFinite(count)));
}
