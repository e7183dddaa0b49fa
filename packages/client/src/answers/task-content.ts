import type { Json, Part, Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';

/** Parts, for a reader that takes no parts. */
export interface Content {
  readonly text: string;
  readonly data: readonly Json[];
  /** The files, without their bytes. */
  readonly files: readonly { readonly name?: string; readonly mediaType?: string; readonly url?: string }[];
}

/**
 * What a task gives a reader that takes no tasks, such as a model or another protocol: what was made (its artifacts) and
 * what was said (its status). Both count in every state: a question may be about a draft, and a task that failed may have
 * made one before.
 */
export const taskContent = ({
  artifacts = [],
  status,
}: Task): { readonly made: Content; readonly said: Content } => ({
  made: contentOf(...artifacts.map(({ parts }) => parts)),
  said: contentOf(status.message?.parts ?? []),
});

/** The content of messages or artifacts. An empty line stands between the texts of two. */
export function contentOf(...groups: (readonly Part[])[]): Content {
  const parts = groups.flat();
  return {
    text: groups
      .map((each) => textOf({ parts: each }))
      .filter((text) => text !== '')
      .join('\n\n'),
    data: parts.flatMap((part) => ('data' in part ? [part.data] : [])),
    files: parts.flatMap((part) => {
      if (!('raw' in part) && !('url' in part)) return [];
      const { filename: name, mediaType } = part;
      const url = 'url' in part ? { url: part.url } : {};
      return [{ ...(name && { name }), ...(mediaType && { mediaType }), ...url }];
    }),
  };
}

/** `words`, and below them what a task has made so far: for a person who is asked about it. */
export function withMade(words: string, task: Task): string {
  const { text } = taskContent(task).made;
  return text === '' ? words : `${words}\n\nWhat the agent has made so far:\n\n${text}`;
}
