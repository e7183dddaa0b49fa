import { type ConnectOptions, connect } from '@batonjs/client';
import type { Agent, AgentServerOptions } from '@batonjs/server';
import { streamText, type ToolSet, tool } from 'ai';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../test/kit/serve.ts';
import { type ModelTurn, type StreamedAgentOptions, streamedAgent } from '../src/index.ts';
import { type ModelAnswer, type ModelRequest, modelAt, serveModel } from './openai-server.ts';

const place = z.object({ place: z.string() });

/** The tools of the agents in these tests: one for each thing that a tool may need. `visits` has what `visit` did. */
export const toolsFor = (visits: string[]) => ({
  weather: tool({ inputSchema: place, execute: async ({ place }) => ({ place, degrees: 7 }) }),
  broken: tool({
    inputSchema: place,
    execute: async (): Promise<string> => {
      throw new Error('secret of the tool');
    },
  }),
  visit: tool({
    inputSchema: place,
    execute: async ({ place }) => {
      visits.push(place);
      return `At ${place}`;
    },
  }),
  note: tool({ inputSchema: place, execute: async ({ place }) => visits.push(place) }),
  ask: tool({ inputSchema: place, outputSchema: z.unknown() }),
});

/** How the agents in these tests answer. `visit` needs an approval. */
export const answering = (
  { messages, signal, model, tools }: ModelTurn,
  url: string,
  visits: string[] = [],
) =>
  streamText({
    model: model(modelAt(url)),
    messages,
    abortSignal: signal,
    tools: tools(toolsFor(visits)),
    toolApproval: { visit: 'user-approval' },
    stopWhen: ({ steps }) => steps.length === 5,
    maxRetries: 0,
    onError() {},
  });

/** More settings of `streamText`. */
interface Settings {
  readonly instructions?: string;
  readonly stopWhen?: (state: { readonly steps: readonly unknown[] }) => boolean;
}

/** An agent on this model, with these tools. */
export const agentOn = (
  model: Parameters<ModelTurn['model']>[0],
  tools: ToolSet = {},
  options: StreamedAgentOptions = {},
  settings: Settings = {},
) =>
  streamedAgent(
    (turn) =>
      streamText({
        model: turn.model(model),
        messages: turn.messages,
        abortSignal: turn.signal,
        tools: turn.tools(tools),
        ...settings,
        maxRetries: 0,
        onError() {},
      }),
    options,
  );

/** An agent on a model over HTTP, until the test ends. */
export async function start(
  answer: (request: ModelRequest, number: number) => ModelAnswer | Promise<ModelAnswer>,
  options: StreamedAgentOptions = {},
  extend: (agent: Agent) => Partial<AgentServerOptions> & { agent: Agent } = (agent) => ({ agent }),
) {
  const models = await serveModel(answer);
  onTestFinished(() => models[Symbol.asyncDispose]());
  const visits: string[] = [];
  const { agent, ...more } = extend(streamedAgent((turn) => answering(turn, models.url, visits), options));
  const card = {
    name: 'Test',
    description: 'Answers',
    defaultInputModes: ['text/*', 'application/json', 'image/*'],
  };
  const server = serve(agent, { card, ...more, timeouts: { cancelGraceMs: 5_000, ...more.timeouts } });
  const client = (options: ConnectOptions = {}) =>
    connect('http://localhost', { fetch: (request) => server.fetch(request), ...options });
  return { server, models, visits, client: await client(), connectWith: client };
}
