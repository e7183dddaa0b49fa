import type { Artifact, Part } from '@batonjs/protocol';
import type { CallToolResult } from '@modelcontextprotocol/server';

type Content = CallToolResult['content'][number];

/**
 * The content of a part. Text stays text, data becomes text with JSON, bytes become an image, audio or an embedded
 * resource, by their media type, and a URL becomes a link. `uri` names the embedded resource.
 */
export function contentOf(part: Part, uri: string): Content {
  const { mediaType: mimeType, filename: name } = part;
  if ('text' in part && part.text !== undefined) return { type: 'text', text: part.text };
  if ('url' in part && part.url !== undefined)
    return { type: 'resource_link', uri: part.url, name: name ?? part.url, ...(mimeType && { mimeType }) };
  if ('raw' in part && part.raw !== undefined) {
    const { raw: data } = part;
    if (mimeType?.startsWith('image/')) return { type: 'image', data, mimeType };
    if (mimeType?.startsWith('audio/')) return { type: 'audio', data, mimeType };
    return { type: 'resource', resource: { uri, blob: data, ...(mimeType && { mimeType }) } };
  }
  return { type: 'text', text: JSON.stringify('data' in part ? part.data : null) };
}

/** The content of all artifacts of a task, in order. */
export const contentOfArtifacts = (taskId: string, artifacts: readonly Artifact[]): Content[] =>
  artifacts.flatMap(({ artifactId, parts }) =>
    parts.map((part, n) =>
      contentOf(part, `a2a:${encodeURIComponent(taskId)}/${encodeURIComponent(artifactId)}/${n}`),
    ),
  );
