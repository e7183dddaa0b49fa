import type { CallToolResult } from '@modelcontextprotocol/server';

/** What a tool gave: `content` for models and people, `structuredContent` for programs. */
export type ToolResult = CallToolResult;

/** A tool, as its MCP server describes it. */
export interface McpToolInfo {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
}

/** Options of a request, as the SDK's client takes them. */
interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly allowInputRequired?: boolean;
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** The part of `Client` of `@modelcontextprotocol/client` 2 that is used here. */
export interface McpClient {
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    options?: RequestOptions,
  ): Promise<ToolResult>;
  listTools(params?: undefined, options?: RequestOptions): Promise<{ tools: readonly McpToolInfo[] }>;
}

/** Throws `TypeError` for a `Client` of version 1 of the SDK: it takes the arguments of `callTool` in another order. */
export function mustBeClient2(client: McpClient): void {
  if ('setLoggingLevel' in client && !('discover' in client))
    throw new TypeError(
      'This MCP client is one of `@modelcontextprotocol/sdk` 1: install `@modelcontextprotocol/client` 2, and import `Client` from it',
    );
}

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
