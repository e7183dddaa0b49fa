import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { Turn } from '@batonjs/server';
import { type FetchFileOptions, fetchFile } from '@batonjs/server/address-policy';
import { gateway, type LanguageModel, wrapLanguageModel } from 'ai';
import { streamOf } from '../stream-of.ts';
import { keptPrompt } from './kept-prompt.ts';
import {
  type CallMeter,
  callMeter,
  type ModelCall,
  type RecordedCall,
  type RecordedCalls,
} from './model-call.ts';

/** What the log has of a call: the parts of its stream, or its whole result, and what it cost. */
export type StoredCall = { readonly modelCall: ModelCall } & (
  | { readonly parts: readonly LanguageModelV4StreamPart[] }
  | { readonly result: LanguageModelV4GenerateResult }
);

/** How the calls of a model are made and kept. */
export interface RecordedModelOptions {
  readonly files?: FetchFileOptions | undefined;
  /** Reads the files that the server keeps. */
  readonly file?: Turn['file'] | undefined;
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
  { files = {}, file, promptBytes }: RecordedModelOptions = {},
): LanguageModel {
  const found =
    typeof model === 'string' ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) : model;
  const meterOf = (inner: LanguageModelV4, { prompt }: LanguageModelV4CallOptions) =>
    callMeter(inner, promptBytes === undefined ? undefined : keptPrompt(prompt, promptBytes));
  const complete = async (inner: LanguageModelV4, params: LanguageModelV4CallOptions, meter: CallMeter) => {
    const prompt = await withFiles(params.prompt, inner, files, file);
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

/**
 * The parts of a stream as they are stored: without those that only the connection needs, pieces of a text joined, bytes
 * as base64.
 */
export function storedParts(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4StreamPart[] {
  const stored: LanguageModelV4StreamPart[] = [];
  for (const part of parts) {
    if (part.type === 'raw' || part.type === 'ping') continue;
    const last = stored.at(-1);
    if (
      'delta' in part &&
      last?.type === part.type &&
      last.id === part.id &&
      !part.providerMetadata &&
      !last.providerMetadata
    )
      stored[stored.length - 1] = { ...last, delta: last.delta + part.delta };
    else stored.push(withoutBytes(part));
  }
  return stored;
}

/** The parts that `storedParts` gave, after JSON. */
export const readParts = (parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4StreamPart[] =>
  parts.map((part) => (part.type === 'response-metadata' ? { ...part, ...withDate(part) } : withUrl(part)));

/** A whole result as it is stored. What request and response were on the wire is left out. */
export const storedResult = ({
  content,
  request: _,
  response,
  ...rest
}: LanguageModelV4GenerateResult): LanguageModelV4GenerateResult => ({
  ...rest,
  content: content.map(withoutBytes),
  ...(response && {
    response: { id: response.id, timestamp: response.timestamp, modelId: response.modelId },
  }),
});

/** The result that `storedResult` gave, after JSON. */
export const readResult = ({
  content,
  response,
  ...rest
}: LanguageModelV4GenerateResult): LanguageModelV4GenerateResult => ({
  ...rest,
  content: content.map(withUrl),
  ...(response && { response: { ...response, ...withDate(response) } }),
});

type AnyPart = LanguageModelV4StreamPart | LanguageModelV4Content;

function withoutBytes<Part extends AnyPart>(part: Part): Part {
  if ((part.type !== 'file' && part.type !== 'reasoning-file') || part.data.type !== 'data') return part;
  const { data } = part.data;
  return typeof data === 'string' ? part : { ...part, data: { type: 'data', data: toBase64(data) } };
}

/** JSON made a text of the URL. */
const withUrl = <Part extends AnyPart>(part: Part): Part =>
  (part.type === 'file' || part.type === 'reasoning-file') && part.data.type === 'url'
    ? { ...part, data: { ...part.data, url: new URL(part.data.url) } }
    : part;

/** JSON made a text of the date. */
const withDate = ({ timestamp }: { readonly timestamp?: Date }): { timestamp?: Date } =>
  timestamp ? { timestamp: new Date(timestamp) } : {};

/** Bytes as base64, a part of them at a time: a call takes only so many arguments. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8_192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(binary);
}

type Prompt = LanguageModelV4CallOptions['prompt'];

/** The URLs that a wrapped model takes: all of them, so that the SDK fetches none. */
export const everyUrl = { '*/*': [/^https?:/] };

/**
 * The prompt with the files that the model cannot fetch by itself. They are fetched here, where addresses inside of this
 * network are refused: users choose these URLs. `file` reads those that the server keeps: others may not reach its address.
 * Rejects as `fetchFile` does.
 */
export async function withFiles(
  prompt: Prompt,
  model: Pick<LanguageModelV4, 'supportedUrls'>,
  options: FetchFileOptions,
  file?: Turn['file'],
): Promise<Prompt> {
  const supported = await model.supportedUrls;
  return Promise.all(
    prompt.map(async (message) => {
      if (message.role !== 'user') return message;
      const content = await Promise.all(
        message.content.map(async (part) => {
          if (part.type !== 'file' || part.data.type !== 'url') return part;
          const { url } = part.data;
          const kept = file && keptAt(url.href, options, file);
          if (!kept && isSupported(supported, part.mediaType, url.href)) return part;
          const { bytes, mediaType } = kept
            ? { ...kept, bytes: await kept.bytes() }
            : await fetchFile(url.href, options);
          const isVague = !part.mediaType.includes('/') || part.mediaType === 'application/octet-stream';
          const data = { type: 'data' as const, data: bytes };
          return { ...part, data, mediaType: (isVague && mediaType) || part.mediaType };
        }),
      );
      return { ...message, content };
    }),
  );
}

/** The file that the server keeps under this address; undefined for one elsewhere, and for one that is too large to send. */
function keptAt(url: string, { maxBytes = 10 * 1024 * 1024 }: FetchFileOptions, file: Turn['file']) {
  const kept = file({ url });
  return kept.size !== undefined && kept.size <= maxBytes ? kept : undefined;
}

const isSupported = (
  supported: Readonly<Record<string, readonly RegExp[]>>,
  mediaType: string,
  url: string,
): boolean =>
  Object.entries(supported).some(
    ([pattern, urls]) =>
      covers(pattern.toLowerCase(), mediaType.toLowerCase()) && urls.some((each) => each.test(url)),
  );

function covers(pattern: string, mediaType: string): boolean {
  if (pattern === '*' || pattern === '*/*' || pattern === mediaType) return true;
  return pattern.endsWith('/*') && `${mediaType}/`.startsWith(pattern.slice(0, -1));
}
