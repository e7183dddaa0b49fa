import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Turn } from '@batonjs/server';
import type { PriceTable } from '@batonjs/server/internals';
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
interface FailedCall {
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

export type CallMeter = ReturnType<typeof callMeter>;

/** Measures one call of a model. */
export function callMeter(
  model: Pick<LanguageModelV4, 'provider' | 'modelId'>,
  prompt?: KeptPrompt,
  now = () => performance.now(),
) {
  let firstMs: number | undefined;
  let answeredBy: string | undefined;
  let finished: Finish | undefined;
  let httpStatus: number | undefined;
  let from: number = now();

  const ms = (): number => Math.round(now() - from);

  function usage(): { usage?: TokenUsage } {
    const usage = finished && usageOf(finished.usage);
    return usage && Object.keys(usage).length > 0 ? { usage } : {};
  }

  return {
    /** The request leaves now. */
    start(): void {
      from = now();
    },
    /** Notes a part of the answer. */
    see(part: LanguageModelV4StreamPart): void {
      if (isSaid.has(part.type)) firstMs ??= ms();
      else if (part.type === 'response-metadata') answeredBy = part.modelId;
      else if (part.type === 'finish') finished = part;
      else if (part.type === 'error') httpStatus = statusOf(part.error);
    },
    /** Notes a whole answer. */
    seeWhole(finish: Finish, responseModelId: string | undefined): void {
      finished = finish;
      answeredBy = responseModelId;
    },
    /** The call, whose answer is kept. */
    kept(failed: readonly FailedCall[]): ModelCall {
      const { provider, modelId } = model;
      const other = answeredBy;
      return {
        provider,
        modelId,
        ...(other !== undefined && other !== modelId && { responseModelId: other }),
        ms: ms(),
        ...(firstMs !== undefined && { firstMs }),
        ...(finished && { finishReason: finished.finishReason.unified }),
        ...usage(),
        ...(failed.length > 0 && { failed }),
        ...(prompt && { prompt }),
      };
    },
    /** The call, whose answer is not kept. Its prompt, and the words of the error, are not either. */
    failed(error?: unknown): FailedCall {
      const status = statusOf(error) ?? httpStatus;
      return { ms: ms(), ...(status !== undefined && { status }), ...usage() };
    },
  };
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

/** One call whose result is a step of the turn: what an earlier attempt recorded, or what `complete` is given. */
export interface RecordedCall<T> {
  /** How it failed before, in this attempt of the turn. */
  readonly failed: readonly FailedCall[];
  /** The recorded result; undefined if the call must be made. Rejects as a step does. */
  recorded(): Promise<T | undefined>;
  /** Records the result. Resolves when it is in the log. */
  complete(result: T): Promise<void>;
  /** The call failed. The next call of the same name takes its place, so that a retry keeps the number. */
  fail(how: FailedCall): void;
}

export type RecordedCalls<T> = ReturnType<typeof recordedCalls<T>>;

/**
 * The calls of one name in a turn. Calls are numbered in the order in which they begin; a failed call gives its number
 * to the next one. So a later attempt, in which nothing fails, finds each result under the same number.
 */
export function recordedCalls<T>(turn: Turn, name: string, prices?: PriceTable) {
  const failedCalls: RecordedCall<T>[] = [];
  const open = new Map<RecordedCall<T>, PromiseWithResolvers<T>>();
  let count = 0;

  /** A step that begins with a call and ends with the first attempt of the call that succeeds. */
  function numbered(stepName: string): RecordedCall<T> {
    const failed: FailedCall[] = [];
    const made = Promise.withResolvers<T>();
    const entered = Promise.withResolvers<undefined>();
    const step = turn.step(stepName, { usage: (result) => usageIn(result, prices) }, () => {
      entered.resolve(undefined);
      return made.promise;
    }) as Promise<T>;
    // Rejects without a reader if the turn ends while the call is made.
    step.catch(() => {});
    const call: RecordedCall<T> = {
      failed,
      recorded: () => Promise.race([entered.promise, step]),
      async complete(result) {
        made.resolve(result);
        await step;
        open.delete(call);
      },
      fail(how) {
        failed.push(how);
        failedCalls.push(call);
      },
    };
    open.set(call, made);
    return call;
  }

  return {
    begin: (): RecordedCall<T> => failedCalls.shift() ?? numbered(`${name} ${++count}`),
    /** Ends the steps of calls that were not made again. */
    close(): void {
      for (const { promise, reject } of open.values()) {
        // Its rejection is for the step alone.
        promise.catch(() => {});
        reject(new Error('The call failed'));
      }
    },
  };
}

/** What a recorded call used and cost, with the tries that failed before it. */
function usageIn(result: unknown, prices: PriceTable | undefined) {
  const { modelCall: call } = Object(result) as { readonly modelCall?: ModelCall };
  if (!call) return undefined;
  const all: readonly { readonly usage?: TokenUsage }[] = [call, ...(call.failed ?? [])];
  const sum = (name: keyof TokenUsage) => {
    const known = all.flatMap(({ usage }) => usage?.[name] ?? []);
    return known.length > 0
      ? known.reduce((before, count) => before + Math.round(Math.max(0, count)), 0)
      : undefined;
  };
  const costs = all.flatMap(({ usage }) => prices?.costOf(call, usage) ?? []);
  const cost = costs.reduce((before, each) => before + each, 0);
  return {
    model: call.modelId.slice(0, 128) || 'unknown',
    calls: all.length,
    inputTokens: sum('input'),
    outputTokens: sum('output'),
    cachedTokens: sum('cachedInput'),
    ...(prices && costs.length > 0 && { cost: Math.max(0, cost), currency: prices.currency }),
  };
}
