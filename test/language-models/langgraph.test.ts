import { connect, textOf } from '@batonjs/client';
import { runTurn } from '@batonjs/testing';
import { AIMessageChunk } from '@langchain/core/messages';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { expect, it } from 'vitest';
import { serve } from '../kit/serve.ts';
import { graphAgent } from './langgraph.ts';

it('a graph of LangGraph streams its answer, asks with `interrupt` and goes on with the answer', async () => {
  const chunks = ['Booked ', 'a room'].map((content) => new AIMessageChunk({ content }));
  const model = new FakeStreamingChatModel({ chunks });
  const answers: unknown[] = [];
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('ask', () => {
      answers.push(interrupt('Which room?'));
      return {};
    })
    .addNode('book', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, 'ask')
    .addEdge('ask', 'book')
    .addEdge('book', END)
    .compile({ checkpointer: new MemorySaver() });
  const server = serve(graphAgent(graph));
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const { task } = await client.send('Book a room');
  expect([task?.status.state, textOf(task?.status.message)]).toEqual([
    'TASK_STATE_INPUT_REQUIRED',
    'Which room?',
  ]);
  const { task: done } = await client.send('The red one', { task: task! });
  expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(textOf(done?.artifacts?.[0])).toBe('Booked a room');
  expect(answers).toEqual(['The red one']);
});

it('a graph of LangGraph goes on after the last node that ended, when its turn is run again', async () => {
  const runs: string[] = [];
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('first', () => {
      runs.push('first');
      return {};
    })
    .addNode('second', () => {
      runs.push('second');
      if (runs.length < 3) throw new Error('Broken');
      return {};
    })
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END)
    .compile({ checkpointer: new MemorySaver() });
  await expect(runTurn(graphAgent(graph), 'go')).rejects.toThrow('Broken');
  await runTurn(graphAgent(graph), 'go', { attempt: 2 });
  expect(runs).toEqual(['first', 'second', 'second']);
});
