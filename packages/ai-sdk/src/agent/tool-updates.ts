import { data, type TaskUpdate, text, working } from '@batonjs/server';
import type { TextStreamPart, ToolSet } from 'ai';
import { AI_SDK } from '../metadata.ts';

/**
 * What clients see of the agent's tools: `names`, which tool is called; `data`, also inputs and results; or nothing. They
 * never see why a tool failed.
 */
export type ShownTools = 'names' | 'data' | 'none';

/** A call or a result of a tool as progress of the task; undefined for other parts, and for those that are not shown. */
export function toolUpdate(part: TextStreamPart<ToolSet>, shown: ShownTools): TaskUpdate | undefined {
  if (shown === 'none') return undefined;
  const isData = shown === 'data';
  switch (part.type) {
    case 'tool-call':
      return progress(
        part,
        'called',
        isData ? { input: part.input } : {},
        `Calls ${part.title ?? part.toolName}`,
      );
    case 'tool-result':
      return part.preliminary || !isData ? undefined : progress(part, 'done', { output: part.output });
    case 'tool-error':
      return isData ? progress(part, 'failed') : undefined;
    case 'tool-output-denied':
      return isData ? progress(part, 'denied') : undefined;
    default:
      return undefined;
  }
}

function progress(
  { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
  state: string,
  more: object = {},
  words?: string,
): TaskUpdate {
  const about = data({ toolCallId, toolName, state, ...more }, { mediaType: 'application/json' });
  return working({
    messageId: crypto.randomUUID(),
    role: 'ROLE_AGENT',
    parts: words ? [text(words), about] : [about],
    metadata: { [AI_SDK]: {} },
  });
}
