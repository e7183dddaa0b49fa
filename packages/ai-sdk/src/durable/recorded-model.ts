import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { FetchFileOptions } from '@batonjs/server/address-policy';
import { gateway, type LanguageModel, wrapLanguageModel } from 'ai';
import { everyUrl, withFiles } from './files-by-url.ts';
import { keptPrompt } from './kept-prompt.ts';
import { CallMeter, type ModelCall } from './model-call.ts';
import type { RecordedCall, RecordedCalls } from './recorded-calls.ts';
import { readParts, readResult, storedParts, storedResult } from './stored-parts.ts';
import { streamOf } from './stream-of.ts';

/** What the log has of a call: the parts of its stream, or its whole result, and what it cost. */
export type StoredCall = { readonly modelCall: ModelCall } & (
  | { readonly parts: readonly LanguageModelV4StreamPart[] }
  | { readonly result: LanguageModelV4GenerateResult }
);

/** How the calls of a model are made and kept. */
export interface RecordedModelOptions {
  readonly files?: FetchFileOptions | undefined;
  /** How many bytes of each prompt are kept. Undefined: none. */
  readonly promptBytes?: number | undefined;
}

/** What a model is told of the calls that it wants to make, before it passes them on. */
export type OnToolCalls = (toolCallIds: readonly string[]) => void;

/**
 * A model whose answers are steps of a turn: an answer that an earlier attempt recorded is given again without a call.
 * Text passes on as it comes. Tool calls, and the end, pass on when the answer is recorded: no tool runs for an answer
 * that another attempt would replace.
 */
export function recordedModel(
  model: LanguageModel,
  calls: RecordedCalls<StoredCall>,
  onToolCalls: OnToolCalls,
  { files = {}, promptBytes }: RecordedModelOptions = {},
): LanguageModel {
  const found =
    typeof model === 'string' ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) : model;
  const meterOf = (inner: LanguageModelV4, { prompt }: LanguageModelV4CallOptions) =>
    new CallMeter(inner, promptBytes === undefined ? undefined : keptPrompt(prompt, promptBytes));
  const complete = async (inner: LanguageModelV4, params: LanguageModelV4CallOptions, meter: CallMeter) => {
    const prompt = await withFiles(params.prompt, inner, files);
    meter.start();
    return { ...params, prompt };
  };
  return wrapLanguageModel({
    model: found,
    middleware: {
      overrideSupportedUrls: () => everyUrl,
      async wrapGenerate({ model: inner, params }) {
        const call = calls.begin();
        const known = await call.recorded();
        if (known && 'result' in known) return readResult(known.result);
        const meter = meterOf(inner, params);
        const result = await failing(call, meter, async () =>
          inner.doGenerate(await complete(inner, params, meter)),
        );
        meter.seeWhole(result, result.response?.modelId);
        await call.complete({ result: storedResult(result), modelCall: meter.kept(call.failed) });
        return result;
      },
      async wrapStream({ model: inner, params }): Promise<LanguageModelV4StreamResult> {
        const call = calls.begin();
        const known = await call.recorded();
        if (known && 'parts' in known) {
          const parts = readParts(known.parts);
          onToolCalls(toolCallsIn(parts));
          return { stream: streamOf(inOrder(parts)) };
        }
        const meter = meterOf(inner, params);
        const { stream, ...rest } = await failing(call, meter, async () =>
          inner.doStream(await complete(inner, params, meter)),
        );
        return { ...rest, stream: streamOf(recording(stream, call, meter, onToolCalls)) };
      },
    },
  });
}

async function failing<T>(
  call: RecordedCall<StoredCall>,
  meter: CallMeter,
  perform: () => PromiseLike<T>,
): Promise<T> {
  try {
    return await perform();
  } catch (error) {
    call.fail(meter.failed(error));
    throw error;
  }
}

async function* recording(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  call: RecordedCall<StoredCall>,
  meter: CallMeter,
  onToolCalls: OnToolCalls,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const parts: LanguageModelV4StreamPart[] = [];
  const held: LanguageModelV4StreamPart[] = [];
  let isWhole = false;
  let isBroken = false;
  let isKept = false;
  try {
    for await (const part of stream) {
      parts.push(part);
      meter.see(part);
      if (part.type === 'finish') isWhole = wholeReasons.has(part.finishReason.unified);
      if (part.type === 'error') isBroken = true;
      if (held.length > 0 || endsText.has(part.type)) held.push(part);
      else yield part;
    }
    if (isWhole && !isBroken) {
      await call.complete({ parts: storedParts(parts), modelCall: meter.kept(call.failed) });
      isKept = true;
    }
  } finally {
    if (!isKept) call.fail(meter.failed());
  }
  onToolCalls(toolCallsIn(held));
  yield* held;
}

/** The parts that are held back until the answer is recorded, with those after them. */
const endsText: ReadonlySet<string> = new Set(['tool-call', 'tool-approval-request', 'finish']);

/** An answer that ended for another reason is none to keep: another attempt may get a better one. */
const wholeReasons: ReadonlySet<string> = new Set([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'other',
]);

const toolCallsIn = (parts: readonly LanguageModelV4StreamPart[]): string[] =>
  parts.flatMap((part) => (part.type === 'tool-call' && !part.providerExecuted ? [part.toolCallId] : []));

async function* inOrder<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
