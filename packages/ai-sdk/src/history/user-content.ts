import type { Message, Part } from '@batonjs/protocol';
import type { AssistantModelMessage, FilePart, ModelMessage, TextPart } from 'ai';

/** A message of the user as a model reads it; undefined if it has no content. */
export function userMessage({ parts }: Pick<Message, 'parts'>): ModelMessage | undefined {
  const content = parts.map(contentOf);
  return content.length > 0 ? { role: 'user', content } : undefined;
}

/**
 * What the agent said, as a model reads its own words: a message, or artifacts, with an empty line between the texts of
 * two. Undefined without content.
 */
export function assistantMessage(...said: (readonly Part[])[]): AssistantModelMessage | undefined {
  const joined: (TextPart | FilePart)[] = [];
  for (const parts of said) {
    let between = '\n\n';
    for (const part of parts.map(contentOf)) {
      if (part.type === 'text' && part.text === '') continue;
      const last = joined.at(-1);
      // Pieces of one text, as they were streamed, are one text again.
      if (last?.type === 'text' && part.type === 'text')
        joined[joined.length - 1] = { type: 'text', text: last.text + between + part.text };
      else joined.push(part);
      between = '';
    }
  }
  return joined.length > 0 ? { role: 'assistant', content: joined } : undefined;
}

/** Data becomes its JSON. A file whose address is no URL becomes text: a model cannot read it. */
function contentOf(part: Part): TextPart | FilePart {
  if ('text' in part) return { type: 'text', text: part.text };
  if ('data' in part) return { type: 'text', text: JSON.stringify(part.data) };
  const about = {
    mediaType: part.mediaType || 'application/octet-stream',
    ...(part.filename && { filename: part.filename }),
  };
  if ('raw' in part) return { type: 'file', data: { type: 'data', data: part.raw }, ...about };
  return URL.canParse(part.url)
    ? { type: 'file', data: { type: 'url', url: new URL(part.url) }, ...about }
    : { type: 'text', text: part.url };
}
