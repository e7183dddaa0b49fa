import type { Artifact, Json, Part } from '@batonjs/protocol';
import type { CallToolResult } from '@modelcontextprotocol/server';

type Content = CallToolResult['content'][number];

/** A part has one of these. */
interface AnyPart {
  readonly text?: string;
  readonly url?: string;
  readonly raw?: string;
  readonly data?: Json;
}

/**
 * The content of a part. Text stays text, data becomes text with JSON, bytes become an image, audio or an embedded
 * resource, by their media type, and a URL becomes a link. `uri` names the embedded resource.
 */
export function contentOf(part: Part, uri: string): Content {
  const { text, url, raw: data, data: json = null } = part as AnyPart;
  const { mediaType: mimeType, filename: name } = part;
  if (text !== undefined) return { type: 'text', text };
  if (url !== undefined)
    return { type: 'resource_link', uri: url, name: name ?? url, ...(mimeType && { mimeType }) };
  if (data !== undefined) {
    if (mimeType?.startsWith('image/')) return { type: 'image', data, mimeType };
    if (mimeType?.startsWith('audio/')) return { type: 'audio', data, mimeType };
    return { type: 'resource', resource: { uri, blob: data, ...(mimeType && { mimeType }) } };
  }
  return { type: 'text', text: JSON.stringify(json) };
}

/** The content of all artifacts of a task, in order. The chunks of a text are one text. */
export const contentOfArtifacts = (taskId: string, artifacts: readonly Artifact[]): Content[] =>
  artifacts.flatMap(({ artifactId, parts }) =>
    joined(parts).map((part, n) =>
      contentOf(part, `a2a:${encodeURIComponent(taskId)}/${encodeURIComponent(artifactId)}/${n}`),
    ),
  );

/** The parts with texts that follow each other, of one media type and file, in one: an agent that streams sends chunks. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (last && isText(last) && isText(part) && isOfSameFile(last, part))
      all[all.length - 1] = { ...last, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}

type TextPart = Extract<Part, { readonly text: string }>;

const isOfSameFile = (one: Part, other: Part): boolean =>
  one.mediaType === other.mediaType && one.filename === other.filename;

const isText = (part: Part): part is TextPart => typeof (part as AnyPart).text === 'string';
