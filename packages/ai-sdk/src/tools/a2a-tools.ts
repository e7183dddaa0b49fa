import { type AgentClient, connect, type MessageInput, type SendOptions } from '@batonjs/client';
import { TYPED_SKILLS } from '@batonjs/extensions/client';
import type { Callee, CallingTurn } from '@batonjs/nested-tasks';
import type { Json, Struct } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { jsonSchema, type Schema, type Tool, type ToolExecutionOptions, type ToolSet, tool } from 'ai';
import { cancelableStream } from '../cancelable-stream.ts';
import { isDurable } from '../durable/recorded-tools.ts';
import { type CallingStreamedTurn, toolQuestionsKey } from '../tool-questions.ts';
import { type A2AToolResult, toolResult } from './result.ts';

/** Options of `a2aTools`. */
export interface A2AToolsOptions {
  /**
   * The turn of a `streamedAgent` inside of `nestedTasks`: calls are children of its task then. They survive a crash, their
   * questions become questions of the task, and they are canceled with it.
   */
  readonly turn?: CallingTurn | undefined;
  /** Connects to an agent by its URL to read its card. Default: `connect` of the client. */
  readonly connect?: ((url: string) => Promise<AgentClient>) | undefined;
}

/**
 * Agents as tools of the AI SDK: one for each skill, named `<agent>_<skill>`, with the description of the skill, and with
 * its schema where the card has one. Rejects if a card cannot be read. A client that is connected already needs no request.
 *
 * Without `turn`, a question of an agent is a result in the state `input-required`; another tool `<agent>_answer` sends
 * the answer. Aborting cancels the task.
 */
export async function a2aTools(
  agents: Readonly<Record<string, Callee>>,
  { turn, connect }: A2AToolsOptions = {},
): Promise<ToolSet> {
  const taken = new Set<string>();
  const opened = await Promise.all(
    Object.entries(agents).map(async ([name, agent]) => ({
      name,
      agent,
      client: await connected(agent, connect),
    })),
  );
  const tools: ToolSet = {};
  for (const { name, agent, client } of opened) {
    for (const skill of skillTools(name, client.card, taken))
      tools[skill.name] = turn ? childTool(skill, agent, turn) : plainTool(skill, client);
    if (!turn) tools[toolName(`${name}_answer`, taken)] = answerTool(name, client);
  }
  return tools;
}

/** What a call sends: the message, and which skill is meant. */
interface Sent {
  readonly message: MessageInput;
  readonly metadata?: Struct;
  readonly extensions?: readonly string[];
}

function sentBy({ skillId }: SkillTool, input: unknown): Sent {
  if (skillId === undefined) return { message: String(Object(input).message ?? '') };
  return {
    message: { data: input as Json },
    metadata: { [TYPED_SKILLS]: { skillId } },
    extensions: [TYPED_SKILLS],
  };
}

const toolOf = (
  { description, inputSchema }: { readonly description: string; readonly inputSchema: Schema<unknown> },
  execute: (input: unknown, options: ToolExecutionOptions<never>) => Promise<A2AToolResult>,
): Tool => tool({ description, inputSchema, execute: execute as never }) as Tool;

/** A tool that starts a child of the turn's task. */
function childTool(skill: SkillTool, agent: Callee, turn: CallingTurn): Tool {
  const toolQuestions = (turn as CallingStreamedTurn)[toolQuestionsKey];
  if (!toolQuestions) throw new TypeError('`turn` is that of a `streamedAgent`');
  const execute = async (input: unknown, { toolCallId }: { readonly toolCallId: string }) => {
    const { message, ...options } = sentBy(skill, input);
    const reply = await turn.call(agent, message, {
      name: toolQuestions.nameOf(toolCallId),
      ...options,
      async onQuestion() {
        await toolQuestions.ask(toolCallId);
        return undefined;
      },
    });
    return toolResult(reply);
  };
  return Object.assign(toolOf(skill, execute), { [isDurable]: true });
}

/** A tool for any program of the AI SDK. */
const plainTool = (skill: SkillTool, client: AgentClient): Tool =>
  toolOf(skill, (input, { abortSignal }) => {
    const { message, ...options } = sentBy(skill, input);
    return follow(client, message, { ...options, signal: abortSignal });
  });

const answerTool = (name: string, client: AgentClient): Tool =>
  toolOf(
    {
      description: `Answers a question of "${name}": a result in the state "input-required" has the taskId`,
      inputSchema: answerSchema,
    },
    (input, { abortSignal }) => {
      const { taskId, answer } = Object(input) as { taskId: string; answer: string };
      return follow(client, answer, { task: taskId, signal: abortSignal });
    },
  );

const answerSchema: Schema<unknown> = jsonSchema({
  type: 'object',
  properties: { taskId: { type: 'string' }, answer: { type: 'string' } },
  required: ['taskId', 'answer'],
  additionalProperties: false,
});

async function follow(
  client: AgentClient,
  message: MessageInput,
  options: SendOptions,
): Promise<A2AToolResult> {
  const { stream, events } = cancelableStream(client, message, options);
  for await (const _ of events);
  return toolResult(stream.task ? { task: stream.task } : await stream.result());
}

type Card = AgentClient['card'];

/** One skill of an agent as a model sees it. */
interface SkillTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema<unknown>;
  /** Set where the card has the schema of the skill: its input is data. Otherwise it is `{ message }`. */
  readonly skillId?: string;
}

/** The skills of a card as tools; the agent itself where it has none. `taken` has the names of other tools. */
export function skillTools(agent: string, card: Card, taken: Set<string>): SkillTool[] {
  const schemas = schemasIn(card);
  const skills = card.skills ?? [];
  if (skills.length === 0)
    return [{ name: toolName(agent, taken), description: describe(card), inputSchema: messageSchema }];
  return skills.map((skill) => {
    const schema = Object.hasOwn(schemas, skill.id) ? Object(schemas[skill.id]).input : undefined;
    return {
      name: toolName(`${agent}_${skill.id}`, taken),
      description: describe(skill, card),
      inputSchema: isObject(schema) ? jsonSchema(schema) : messageSchema,
      ...(isObject(schema) && { skillId: skill.id }),
    };
  });
}

/** A name that models accept, and no other tool has. */
export function toolName(text: string, taken: Set<string>): string {
  const name = text.replace(/[^\w-]/g, '_').slice(0, 60) || '_';
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name}_${n}`;
  taken.add(free);
  return free;
}

function schemasIn(card: Card): Readonly<Record<string, unknown>> {
  const extension = card.capabilities?.extensions?.find(({ uri }) => uri === TYPED_SKILLS);
  return Object(extension?.params?.skills) as Readonly<Record<string, unknown>>;
}

interface Described {
  readonly name?: string;
  readonly description?: string;
  readonly examples?: readonly string[];
}

/** How much a card may say about a skill, in characters. */
const mostWords = 2_000;

function describe({ name, description, examples = [] }: Described, of?: Described): string {
  const lines = [
    of ? `${name} (by the agent "${of.name}")` : `The agent "${name}"`,
    description,
    ...examples.map((example) => `Example: ${example}`),
  ];
  return lines.filter(Boolean).join('\n').slice(0, mostWords);
}

const messageSchema: Schema<unknown> = jsonSchema({
  type: 'object',
  properties: {
    message: { type: 'string', description: 'What the agent is asked to do, complete by itself' },
  },
  required: ['message'],
  additionalProperties: false,
});

/** Connects to an agent: a connected client, a server of this process, or a URL, for which `open` may be given. */
export async function connected(
  agent: Callee,
  open: (url: string) => Promise<AgentClient> = connect,
): Promise<AgentClient> {
  if (typeof agent === 'string') return open(agent);
  if (agent instanceof URL) return open(agent.href);
  if ('handle' in agent) return connect('http://localhost', { fetch: (request) => agent.fetch(request) });
  return agent;
}
