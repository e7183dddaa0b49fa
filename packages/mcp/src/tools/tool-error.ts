import type { ToolResult } from './mcp-client.ts';

/** Why a tool gave no result: the tool says so, or asks for something that a task cannot give. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly tool: string;
  /** The result with `isError`; undefined if there is none. */
  readonly result: ToolResult | undefined;

  constructor(tool: string, message: string, result?: ToolResult) {
    super(message);
    this.tool = tool;
    this.result = result;
  }

  /** Whether a value is a `ToolError`, also one of another copy of this package. */
  static is(value: unknown): value is ToolError {
    return (value as Error | null | undefined)?.name === 'ToolError';
  }
}

/** Throws the error that a tool reported, which its caller may show to a model. */
export function throwIfError(tool: string, result: ToolResult): ToolResult {
  if (!result.isError) return result;
  const text = result.content.map((each) => (each.type === 'text' ? each.text : '')).join('\n');
  throw new ToolError(tool, text || `The tool "${tool}" failed`, result);
}
