import type {
  AssistantModelMessage,
  JSONValue,
  ModelMessage,
  TextPart,
  TextStreamPart,
  ToolModelMessage,
  ToolSet,
} from 'ai';
import type { PendingCall } from './pending-call.ts';

type Content = Exclude<AssistantModelMessage['content'], string>;
type Output = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>['output'];

/** Gives a result the form in which its model reads it. */
type OutputOf = (toolName: string, toolCallId: string, input: unknown, output: unknown) => Promise<Output>;

/** The messages that a stream makes, and its tool calls without a result. Built while the stream is read. */
export function transcriptOf(outputOf: OutputOf) {
  const kept: ModelMessage[] = [];
  const calls = new Map<string, PendingCall>();
  const seen = new Set<string>();
  let content: Content = [];
  let results: ToolModelMessage['content'] = [];
  let openCalls = new Map<string, { text: string; providerOptions?: TextPart['providerOptions'] }>();

  function addCall(part: Extract<TextStreamPart<ToolSet>, { readonly type: 'tool-call' }>): void {
    const { toolCallId, toolName, providerExecuted, providerMetadata: providerOptions } = part;
    seen.add(toolCallId);
    if (!providerExecuted)
      calls.set(toolCallId, { toolCallId, toolName, input: part.input, needs: 'output' });
    const input = part.invalid && typeof part.input !== 'object' ? {} : part.input;
    content.push({ type: 'tool-call', toolCallId, toolName, input, providerExecuted, providerOptions });
  }

  function addText(part: {
    readonly type: string;
    readonly id: string;
    readonly text?: string;
    readonly providerMetadata?: TextPart['providerOptions'];
  }): void {
    const { type, id, text = '', providerMetadata } = part;
    const kind = type.startsWith('text') ? 'text' : 'reasoning';
    const open = openCalls.get(`${kind} ${id}`) ?? { text: '' };
    open.text += text;
    open.providerOptions = providerMetadata ?? open.providerOptions;
    openCalls.set(`${kind} ${id}`, open);
    if (!type.endsWith('-end')) return;
    openCalls.delete(`${kind} ${id}`);
    if (open.text !== '' || open.providerOptions) content.push({ type: kind, ...open });
  }

  function addResult(
    { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
    output: Output,
    isOfProvider = false,
  ): void {
    (isOfProvider ? content : results).push({
      type: 'tool-result',
      toolCallId,
      toolName,
      output,
    });
  }

  function endStep(): void {
    if (content.length > 0) kept.push({ role: 'assistant', content });
    if (results.length > 0) kept.push({ role: 'tool', content: results });
    content = [];
    results = [];
    openCalls = new Map();
  }

  return {
    /** Whether the stream contained the tool call. */
    has: (toolCallId: string): boolean => seen.has(toolCallId),
    /** The messages so far. */
    messages(): ModelMessage[] {
      endStep();
      return [...kept];
    },
    async add(part: TextStreamPart<ToolSet>): Promise<void> {
      switch (part.type) {
        case 'start-step':
          return endStep();
        case 'text-start':
        case 'reasoning-start':
        case 'text-delta':
        case 'reasoning-delta':
        case 'text-end':
        case 'reasoning-end':
          return addText(part);
        case 'tool-call':
          return addCall(part);
        case 'tool-approval-request': {
          const { approvalId, signature, reason, isAutomatic } = part;
          const { toolCallId, toolName, input } = part.toolCall;
          if (!isAutomatic)
            calls.set(toolCallId, { toolCallId, toolName, input, needs: 'approval', approvalId, reason });
          content.push({ type: part.type, approvalId, toolCallId, signature, reason, isAutomatic });
          return;
        }
        case 'tool-approval-response': {
          const { approvalId, approved, reason, providerExecuted } = part;
          results.push({ type: part.type, approvalId, approved, reason, providerExecuted });
          return;
        }
        case 'tool-output-denied':
          calls.delete(part.toolCallId);
          return addResult(part, { type: 'execution-denied' });
        case 'tool-error': {
          calls.delete(part.toolCallId);
          const output = { type: 'error-text' as const, value: messageOf(part.error) };
          return addResult(part, output, part.providerExecuted);
        }
        case 'tool-result': {
          if (part.preliminary) return;
          calls.delete(part.toolCallId);
          const output = await outputOf(part.toolName, part.toolCallId, part.input, part.output);
          return addResult(part, output, part.providerExecuted);
        }
        case 'file': {
          const { base64: data, mediaType } = part.file;
          content.push({ type: 'file', data, mediaType, providerOptions: part.providerMetadata });
        }
      }
    },
    /** The tool calls without a result. */
    get pending(): readonly PendingCall[] {
      return [...calls.values()];
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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
