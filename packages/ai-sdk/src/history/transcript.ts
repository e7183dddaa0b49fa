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
export class Transcript {
  readonly #outputOf: OutputOf;
  readonly #messages: ModelMessage[] = [];
  readonly #calls = new Map<string, PendingCall>();
  readonly #seen = new Set<string>();
  #content: Content = [];
  #results: ToolModelMessage['content'] = [];
  #open = new Map<string, { text: string; providerOptions?: TextPart['providerOptions'] }>();

  constructor(outputOf: OutputOf) {
    this.#outputOf = outputOf;
  }

  /** The tool calls without a result. */
  get pending(): readonly PendingCall[] {
    return [...this.#calls.values()];
  }

  /** Whether the stream contained the tool call. */
  has(toolCallId: string): boolean {
    return this.#seen.has(toolCallId);
  }

  /** The messages so far. */
  messages(): ModelMessage[] {
    this.#endStep();
    return [...this.#messages];
  }

  async add(part: TextStreamPart<ToolSet>): Promise<void> {
    switch (part.type) {
      case 'start-step':
        return this.#endStep();
      case 'text-start':
      case 'reasoning-start':
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end':
        return this.#addText(part);
      case 'tool-call':
        return this.#addCall(part);
      case 'tool-approval-request': {
        const { approvalId, signature, reason, isAutomatic } = part;
        const { toolCallId, toolName, input } = part.toolCall;
        if (!isAutomatic)
          this.#calls.set(toolCallId, { toolCallId, toolName, input, needs: 'approval', approvalId, reason });
        this.#content.push({ type: part.type, approvalId, toolCallId, signature, reason, isAutomatic });
        return;
      }
      case 'tool-approval-response': {
        const { approvalId, approved, reason, providerExecuted } = part;
        this.#results.push({ type: part.type, approvalId, approved, reason, providerExecuted });
        return;
      }
      case 'tool-output-denied':
        this.#calls.delete(part.toolCallId);
        return this.#addResult(part, { type: 'execution-denied' });
      case 'tool-error': {
        this.#calls.delete(part.toolCallId);
        const output = { type: 'error-text' as const, value: messageOf(part.error) };
        return this.#addResult(part, output, part.providerExecuted);
      }
      case 'tool-result': {
        if (part.preliminary) return;
        this.#calls.delete(part.toolCallId);
        const output = await this.#outputOf(part.toolName, part.toolCallId, part.input, part.output);
        return this.#addResult(part, output, part.providerExecuted);
      }
      case 'file': {
        const { base64: data, mediaType } = part.file;
        this.#content.push({ type: 'file', data, mediaType, providerOptions: part.providerMetadata });
      }
    }
  }

  #addCall(part: Extract<TextStreamPart<ToolSet>, { readonly type: 'tool-call' }>): void {
    const { toolCallId, toolName, providerExecuted, providerMetadata: providerOptions } = part;
    this.#seen.add(toolCallId);
    if (!providerExecuted)
      this.#calls.set(toolCallId, { toolCallId, toolName, input: part.input, needs: 'output' });
    const input = part.invalid && typeof part.input !== 'object' ? {} : part.input;
    this.#content.push({ type: 'tool-call', toolCallId, toolName, input, providerExecuted, providerOptions });
  }

  #addText(part: {
    readonly type: string;
    readonly id: string;
    readonly text?: string;
    readonly providerMetadata?: TextPart['providerOptions'];
  }): void {
    const { type, id, text = '', providerMetadata } = part;
    const kind = type.startsWith('text') ? 'text' : 'reasoning';
    const open = this.#open.get(`${kind} ${id}`) ?? { text: '' };
    open.text += text;
    open.providerOptions = providerMetadata ?? open.providerOptions;
    this.#open.set(`${kind} ${id}`, open);
    if (!type.endsWith('-end')) return;
    this.#open.delete(`${kind} ${id}`);
    if (open.text !== '' || open.providerOptions) this.#content.push({ type: kind, ...open });
  }

  #addResult(
    { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
    output: Output,
    isOfProvider = false,
  ): void {
    (isOfProvider ? this.#content : this.#results).push({
      type: 'tool-result',
      toolCallId,
      toolName,
      output,
    });
  }

  #endStep(): void {
    if (this.#content.length > 0) this.#messages.push({ role: 'assistant', content: this.#content });
    if (this.#results.length > 0) this.#messages.push({ role: 'tool', content: this.#results });
    this.#content = [];
    this.#results = [];
    this.#open = new Map();
  }
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
