import { type Agent, append, artifact, coalesce, completed, inputRequired, working } from '@batonjs/server';
import type { GenerateOptions, GenkitBeta, MessageData, ToolAction } from 'genkit/beta';

/**
 * A model of Genkit as an agent. `ask` is an interrupt with `{ question }`, from `ai.defineInterrupt`: it becomes
 * INPUT_REQUIRED, and the answer is its output. The memory of the task keeps the messages of the model.
 */
export const genkitAgent = (ai: GenkitBeta, ask: ToolAction, options: GenerateOptions): Agent =>
  async function* ({ memory, text, signal }) {
    yield working();
    const before = memory.get<MessageData[]>('messages');
    const asked = before?.at(-1)?.content.filter(({ metadata }) => metadata?.interrupt) ?? [];
    const respond = asked.flatMap((part) => (part.toolRequest ? ask.respond(part as never, text) : []));
    const next = before ? { messages: before, resume: { respond } } : { prompt: text };
    const tools = [ask, ...(options.tools ?? [])];
    const { stream, response } = ai.generateStream({ ...options, ...next, tools, abortSignal: signal });
    let isFirst = true;
    for await (const chunk of coalesce(textIn(stream), { signal })) {
      yield isFirst ? artifact('answer', chunk) : append('answer', chunk);
      isFirst = false;
    }
    const { interrupts, messages: said } = await response;
    if (interrupts.length === 0) return yield completed();
    const parts = interrupts.map(({ toolRequest }) => ({ text: String(Object(toolRequest.input).question) }));
    const question = inputRequired({ messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts });
    yield { ...question, memory: { messages: JSON.parse(JSON.stringify(said)) } };
  };

async function* textIn(stream: AsyncIterable<{ text: string }>): AsyncGenerator<string, void, void> {
  for await (const { text } of stream) yield text;
}
