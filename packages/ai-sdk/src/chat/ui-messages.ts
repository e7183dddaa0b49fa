import type { AwaitedToolCall } from '@batonjs/client/answers';
import type { Json, Part } from '@batonjs/protocol';
import { getToolOrDynamicToolName, isToolUIPart, type UIMessage } from 'ai';

/** The parts of a user's message for the agent. A part `data-answer` holds the values for a form of the agent. */
export function partsOf({ parts }: UIMessage): Part[] {
  return parts.flatMap((part): Part[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type === 'file') {
      const [, raw] = /^data:[^,]*;base64,(.*)$/s.exec(part.url) ?? [];
      const { mediaType, filename } = part;
      return [
        { ...(raw === undefined ? { url: part.url } : { raw }), mediaType, ...(filename && { filename }) },
      ];
    }
    if (part.type === 'data-answer') return [{ data: part.data as Json }];
    return [];
  });
}

/**
 * What the page says to tool calls that wait: approvals, and outputs of tools that it runs. Undefined if it has not
 * answered all of them.
 */
export function answersIn(
  { parts }: UIMessage,
  awaited: readonly AwaitedToolCall[],
): Record<string, Json> | undefined {
  const answers: Record<string, Json> = {};
  for (const { toolCallId, needs } of awaited) {
    const part = parts.filter(isToolUIPart).find((each) => each.toolCallId === toolCallId);
    if (needs === 'approval' && part?.state === 'approval-responded') {
      const { approved, reason } = part.approval;
      answers[toolCallId] = { approved, ...(reason && { reason }) };
    } else if (part?.state === 'output-available') answers[toolCallId] = part.output as Json;
    else if (part?.state === 'output-error')
      answers[toolCallId] = { error: part.errorText, toolName: getToolOrDynamicToolName(part) };
    else return undefined;
  }
  return answers;
}

/** The ids of the tool calls that a message shows. */
export const callsIn = ({ parts }: UIMessage): string[] =>
  parts.filter(isToolUIPart).map(({ toolCallId }) => toolCallId);
