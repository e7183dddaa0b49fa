import { type Agent, append, artifact, coalesce, completed, inputRequired, working } from '@batonjs/server';
import { type BaseMessageChunk, isAIMessageChunk } from '@langchain/core/messages';
import { Command, type CompiledGraph } from '@langchain/langgraph';

/**
 * A graph as an agent. The task is its thread, so that its checkpoints hold what it knows: `interrupt(question)`
 * becomes INPUT_REQUIRED, and the answer is what `interrupt` returns. Compile the graph with a checkpointer that
 * outlives the process, and serve with `restart: 'rerun'`: after a crash it goes on after the last node that ended.
 */
export const graphAgent = (graph: Pick<CompiledGraph<string>, 'getState' | 'stream'>): Agent =>
  async function* ({ taskId, text, signal }) {
    yield working();
    const config = { configurable: { thread_id: taskId }, signal };
    const { tasks, next } = await graph.getState(config);
    const isAsking = tasks.some(({ interrupts }) => interrupts.length > 0);
    const begin = next.length > 0 ? null : { messages: [{ role: 'user', content: text }] };
    const input = isAsking ? new Command({ resume: text }) : begin;
    const stream = await graph.stream(input, { ...config, streamMode: 'messages' });
    let isFirst = true;
    for await (const chunk of coalesce(textIn(stream), { signal })) {
      yield isFirst ? artifact('answer', chunk) : append('answer', chunk);
      isFirst = false;
    }
    const after = await graph.getState(config);
    const [question] = after.tasks.flatMap(({ interrupts }) => interrupts);
    yield question ? inputRequired(String(question.value)) : completed();
  };

async function* textIn(stream: AsyncIterable<unknown>): AsyncGenerator<string, void, void> {
  for await (const [message] of stream as AsyncIterable<[BaseMessageChunk]>)
    if (isAIMessageChunk(message)) yield message.text;
}
