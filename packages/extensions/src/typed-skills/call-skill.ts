import type { AgentClient, AgentReply, SendOptions } from '@batonjs/client';
import type { Json } from '@batonjs/protocol';
import { CodedError } from '@batonjs/protocol/errors';
import { type ReadSchema, readJsonSchema } from '../json-schema/read-json-schema.ts';
import type { Issue } from '../schema.ts';
import { TYPED_SKILLS } from '../uris.ts';
import { RESULT } from './result.ts';

/**
 * Why `callSkill` failed: `UNKNOWN_SKILL`, the card has no schemas of the skill; `UNREADABLE_SCHEMA`, a schema cannot
 * be read; `INVALID_INPUT`, the input was not sent; `INVALID_OUTPUT`, the agent's output does not fit its schema.
 */
export type SkillProblem = 'UNKNOWN_SKILL' | 'UNREADABLE_SCHEMA' | 'INVALID_INPUT' | 'INVALID_OUTPUT';

/** The error of `callSkill`. Recognise it with `SkillError.is(error, code?)`. */
export class SkillError extends CodedError<SkillProblem> {
  static override readonly title = 'SkillError';
  /** The problems of the input or output, at most 20. */
  readonly issues: readonly Issue[];

  constructor(code: SkillProblem, message: string, issues: readonly Issue[] = []) {
    super(code, message);
    this.issues = issues;
  }
}

/** The reply of a skill. It has an `output` if its task is COMPLETED. */
export type SkillReply = AgentReply & { readonly output?: Json };

/**
 * Calls a skill of an agent whose card contains schemas. It checks the input before sending it, and the output on
 * arrival. The schemas come from the agent: where you cannot trust it, check the output with your own. Rejects with a
 * `SkillError`.
 */
export async function callSkill(
  agent: Pick<AgentClient, 'card' | 'send'>,
  skillId: string,
  input: Json,
  options: SendOptions = {},
): Promise<SkillReply> {
  const schemas = schemasOf(agent, skillId);
  check(schemas.input, input, 'INVALID_INPUT', `The input does not fit the skill "${skillId}"`);
  const reply = await agent.send(
    { data: input },
    {
      ...options,
      extensions: [...(options.extensions ?? []), TYPED_SKILLS],
      metadata: { ...options.metadata, [TYPED_SKILLS]: { skillId } },
    },
  );
  if (reply.task?.status.state !== 'TASK_STATE_COMPLETED') return reply;
  const artifact = reply.task.artifacts?.find(({ name }) => name === RESULT);
  const part = artifact?.parts.find((each) => 'data' in each);
  const output = part && 'data' in part ? part.data : undefined;
  const wrong = `The output of the skill "${skillId}" does not fit its schema`;
  check(schemas.output, output, 'INVALID_OUTPUT', wrong);
  return { ...reply, ...(output !== undefined && { output }) };
}

interface Schemas {
  readonly input: ReadSchema;
  readonly output: ReadSchema | undefined;
}

/** The schemas of skills, by their ids. */
type SkillSchemas = ReadonlyMap<string, { readonly input?: unknown; readonly output?: unknown }>;

/** The schemas in a card. */
export function skillSchemas({ capabilities }: AgentClient['card']): SkillSchemas {
  const extension = capabilities?.extensions?.find(({ uri }) => uri === TYPED_SKILLS);
  const skills = Object.entries(Object(extension?.params?.skills));
  return new Map(skills.map(([id, schemas]) => [id, Object(schemas)]));
}

function schemasOf({ card }: Pick<AgentClient, 'card'>, skillId: string): Schemas {
  const schemas = skillSchemas(card).get(skillId);
  if (!schemas) throw new SkillError('UNKNOWN_SKILL', `The card has no schema of a skill "${skillId}"`);
  const { input, output } = schemas;
  const read = (schema: unknown) => {
    const readable = readJsonSchema(schema);
    if (readable) return readable;
    throw new SkillError('UNREADABLE_SCHEMA', `The schema of the skill "${skillId}" cannot be read`);
  };
  return { input: read(input), output: output === undefined ? undefined : read(output) };
}

function check(schema: ReadSchema | undefined, value: unknown, code: SkillProblem, message: string): void {
  const issues = schema?.check(value);
  if (issues) throw new SkillError(code, message, issues);
}
