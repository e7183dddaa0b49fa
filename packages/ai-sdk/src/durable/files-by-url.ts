import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type FetchFileOptions, fetchFile } from '@batonjs/server/address-policy';

type Prompt = LanguageModelV4CallOptions['prompt'];

/** The URLs that a wrapped model takes: all of them, so that the SDK fetches none. */
export const everyUrl = { '*/*': [/^https?:/] };

/**
 * The prompt with the files that the model cannot fetch by itself. They are fetched here, where addresses inside of this
 * network are refused: users choose these URLs. Rejects as `fetchFile` does.
 */
export async function withFiles(
  prompt: Prompt,
  model: Pick<LanguageModelV4, 'supportedUrls'>,
  options: FetchFileOptions,
): Promise<Prompt> {
  const supported = await model.supportedUrls;
  return Promise.all(
    prompt.map(async (message) => {
      if (message.role !== 'user') return message;
      const content = await Promise.all(
        message.content.map(async (part) => {
          if (part.type !== 'file' || part.data.type !== 'url') return part;
          const { url } = part.data;
          if (isSupported(supported, part.mediaType, url.href)) return part;
          const { bytes, mediaType } = await fetchFile(url.href, options);
          const isVague = !part.mediaType.includes('/') || part.mediaType === 'application/octet-stream';
          const data = { type: 'data' as const, data: bytes };
          return { ...part, data, mediaType: (isVague && mediaType) || part.mediaType };
        }),
      );
      return { ...message, content };
    }),
  );
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
