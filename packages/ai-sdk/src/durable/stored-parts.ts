import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

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
