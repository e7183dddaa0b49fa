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
