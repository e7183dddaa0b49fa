import { type Agent, append, artifact, coalesce, completed, inputRequired, working } from '@batonjs/server';
import type { GenerateOptions, GenkitBeta, MessageData, ToolAction } from 'genkit/beta';

/** Where the question keeps the messages of the model. The caller of the task can read them. */
const MESSAGES = 'https://genkit.dev/messages';

/**
 * A model of Genkit as an agent. `ask` is an interrupt with `{ question }`, from `ai.defineInterrupt`: it becomes
 * INPUT_REQUIRED, and the answer is its output.
 */
export const genkitAgent = (ai: GenkitBeta, ask: ToolAction, options: GenerateOptions): Agent =>
  async function* ({ messages, text, signal }) {
    yield working();
    const kept = messages.findLast(({ metadata }) => metadata?.[MESSAGES])?.metadata?.[MESSAGES];
    const before = kept as unknown as MessageData[] | undefined;
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
    const metadata = { [MESSAGES]: JSON.parse(JSON.stringify(said)) };
    yield inputRequired({ messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts, metadata });
  };

async function* textIn(stream: AsyncIterable<{ text: string }>): AsyncGenerator<string, void, void> {
  for await (const { text } of stream) yield text;
}
