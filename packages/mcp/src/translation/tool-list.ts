import type { AgentClient } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import { skillSchemas } from '@batonjs/extensions/internals';
import type { AgentCard } from '@batonjs/protocol';
import type { Tool } from '@modelcontextprotocol/server';

/** A tool that calls a skill of the agent. */
export interface SkillTool {
  readonly tool: Tool;
  /** The skill whose schemas the card has; undefined for a tool that takes a message. */
  readonly skillId?: string;
}

/** The name of the tool that goes on with a task: reads it, answers its question, or cancels it. */
export const CONTINUE_TASK = 'continue_task';

const messageSchema: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    message: { type: 'string', minLength: 1, description: 'What the agent should do, or be told' },
    data: { type: 'object', description: 'Structured input beside the message' },
  },
  required: ['message'],
  additionalProperties: false,
};

const continueTask: Tool = {
  name: CONTINUE_TASK,
  title: 'Continue a task',
  description:
    'Goes on with a task that another tool started: waits for its result, answers its question with "answer" (text) ' +
    'or "values" (the fields of its form), or cancels it with "cancel".',
  inputSchema: {
    type: 'object',
    properties: {
      taskId: { type: 'string', minLength: 1 },
      answer: { type: 'string' },
      values: { type: 'object' },
      cancel: { type: 'boolean' },
    },
    required: ['taskId'],
    additionalProperties: false,
  },
};

/**
 * The tools of an agent by name: one for each skill of its card, or one for an agent without skills, and
 * `continue_task`. A skill with schemas in the card (the extension for typed skills) has them as the tool's own, others
 * take a message.
 */
export function toolsOf(card: AgentCard): ReadonlyMap<string, SkillTool> {
  const tools = new Map<string, SkillTool>([[CONTINUE_TASK, { tool: continueTask }]]);
  const { name, description } = card;
  const skills = card.skills?.length ? card.skills : [{ id: name, name, description }];
  for (const skill of skills) {
    const schemas = schemasOf(card, skill.id);
    const tool: Tool = {
      name: nameFor(skill.id, tools),
      title: skill.name,
      description: skill.description,
      inputSchema: schemas?.input ?? messageSchema,
      ...(schemas?.output && { outputSchema: schemas.output }),
    };
    tools.set(tool.name, { tool, ...(schemas && { skillId: skill.id }) });
  }
  return tools;
}

/** What clients of MCP accept as a name, unlike any other: 1 to 64 letters, digits, `_` and `-`. */
function nameFor(id: string, taken: ReadonlyMap<string, unknown>): string {
  const plain = id.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 58) || 'skill';
  let name = plain;
  for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`;
  return name;
}

type Schema = Tool['inputSchema'];

/** The schemas of a skill, those of objects only: MCP has no others. */
function schemasOf(card: AgentCard, id: string): { input: Schema; output: Schema | undefined } | undefined {
  const { input, output } = skillSchemas(card).get(id) ?? {};
  return isObjectSchema(input) ? { input, output: isObjectSchema(output) ? output : undefined } : undefined;
}

const isObjectSchema = (schema: unknown): schema is Schema =>
  typeof schema === 'object' && schema !== null && (schema as { type?: unknown }).type === 'object';

/** The extensions that the agent offers, of those that make results and questions better. */
export function extensionsOf({ card }: Pick<AgentClient, 'card'>): string[] {
  const offered = card.capabilities?.extensions?.map(({ uri }) => uri) ?? [];
  return [FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS].filter((uri) => offered.includes(uri));
}
