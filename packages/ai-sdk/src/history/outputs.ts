import type { JSONValue, ToolSet } from 'ai';
import type { OutputOf } from './transcript.ts';

/** Results of tools in the form that their models read: by `toModelOutput` of the tool, or as text or JSON. */
export const outputsOf =
  (tools: ToolSet): OutputOf =>
  async (toolName, toolCallId, input, output) => {
    const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
    if (tool?.toModelOutput)
      return tool.toModelOutput({ toolCallId, input: input as never, output: output as never });
    if (typeof output === 'string') return { type: 'text', value: output };
    return { type: 'json', value: JSON.parse(JSON.stringify(output ?? null)) as JSONValue };
  };
