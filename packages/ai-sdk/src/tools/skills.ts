import type { AgentClient } from '@batonjs/client';
import { TYPED_SKILLS } from '@batonjs/extensions/client';
import { isObject } from '@batonjs/protocol/json';
import { jsonSchema, type Schema } from 'ai';

type Card = AgentClient['card'];

/** One skill of an agent as a model sees it. */
export interface SkillTool {
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
