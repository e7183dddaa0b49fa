import type { Json } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { type Granted, type UnmetRequirement, unmetRequirement } from '@batonjs/protocol/security';
import {
  authRequired,
  type CardInput,
  data,
  failed,
  rejected,
  type SkillInput,
  type TaskUpdate,
  type Turn,
  taskAgent,
  text,
} from '@batonjs/server';
import type { z } from 'zod';
import { addToMessage, answerFor, declare, type Extendable, isStatus, mapUpdates } from '../extension.ts';
import { inputRequired as formRequired } from '../form-input/form-input.ts';
import { askedIn } from '../form-input/own-forms.ts';
import { describeIssues, type Issue, issuesOf, jsonSchemaOf } from '../schema.ts';
import { TYPED_SKILLS } from '../uris.ts';
import { RESULT } from './result.ts';

/**
 * Creates an agent with these skills. A client names a skill in the metadata of its request. Without a name, the agent runs
 * the first skill whose input fits the message, or the first skill of all if none fits; that one reports the problems.
 */
export function typedSkills(card: CardInput, ...skills: readonly [Skill, ...Skill[]]): Extendable {
  const schemas = Object.fromEntries(skills.map(({ about, schemas: own }) => [about.id, own]));
  const declared = declare(
    { ...card, skills: skills.map(({ about }) => about) },
    {
      uri: TYPED_SKILLS,
      description: 'Says what each skill takes and gives, as JSON Schema',
      params: { skills: schemas },
    },
  );
  return {
    card: {
      ...declared,
      skillOf: ({ metadata }, extensions) =>
        extensions.includes(TYPED_SKILLS) ? skillIdIn(metadata?.[TYPED_SKILLS]) : undefined,
    },
    agent: taskAgent((turn) => {
      const id = namedSkill(turn);
      if (id === undefined) return runAllowed(skills.find((each) => each.fits(turn)) ?? skills[0], turn);
      const named = skills.find(({ about }) => about.id === id);
      return named
        ? mapUpdates(runAllowed(named, turn), (update) => keepSkill(update, named))
        : unknownSkill(id);
    }),
  };
}

/** The skill that the client named with its message, or before the agent asked its question. */
function namedSkill({ extensions, metadata, messages }: Turn): string | undefined {
  const question = messages.findLast(({ role }) => role === 'ROLE_AGENT');
  const hints = [
    extensions.includes(TYPED_SKILLS) ? metadata[TYPED_SKILLS] : undefined,
    question?.metadata?.[TYPED_SKILLS],
  ];
  return hints.map(skillIdIn).find((id) => id !== undefined);
}

function skillIdIn(hint: unknown): string | undefined {
  const { skillId } = Object(hint) as { skillId?: unknown };
  return skillId === undefined ? undefined : String(skillId);
}

/** Runs a skill, or asks for better credentials if the caller lacks some that the skill requires. Spec: §7.6. */
function runAllowed(skill: Skill, turn: Turn): AsyncIterable<TaskUpdate> {
  const { id, securityRequirements } = skill.about;
  const unmet = unmetRequirement(securityRequirements, turn.caller as Granted);
  return unmet ? answerFor(turn, needsMore(id, unmet)) : skill.run(turn);
}

function needsMore(skillId: string, { schemes, scopes }: UnmetRequirement): TaskUpdate {
  const message = `The skill "${skillId}" needs more than these credentials: send a message with better ones`;
  const failure = {
    code: 'PERMISSION_DENIED',
    message,
    details: { skillId, schemes: [...schemes], scopes: [...scopes] },
  };
  const parts = [text(message), data(failure, { mediaType: 'application/json' })];
  return addToMessage(authRequired(parts), TYPED_SKILLS, { skillId });
}

/** Adds the skill to its question, so that the answer returns to it. */
const keepSkill = (update: TaskUpdate, { about }: Skill): TaskUpdate =>
  isStatus(update, 'TASK_STATE_INPUT_REQUIRED')
    ? addToMessage(update, TYPED_SKILLS, { skillId: about.id })
    : update;

async function* unknownSkill(id: string) {
  const failure = { code: 'UNKNOWN_SKILL', message: `There is no skill "${id.slice(0, 100)}"` };
  yield rejected([text(failure.message), data(failure, { mediaType: 'application/json' })]);
}

/** The reaction to input that does not fit: `reject` the task, `ask` the client again, or `fail` the task. */
export type InvalidInput = 'reject' | 'ask' | 'fail';

/** The definition of a skill: its entry in the card, its schemas and its code. */
export interface SkillDefinition<Input extends z.ZodObject, Output extends z.ZodType> extends SkillInput {
  /** The schema of the input. */
  readonly input: Input;
  /** The schema of the output, which is the data of the artifact `result`. */
  readonly output?: Output;
  /** The reaction to input that does not fit. Default `'reject'`. */
  readonly invalidInput?: InvalidInput;
  /** Reads the input. Default: the members of all data that the client sent in this task; later ones win. */
  readonly read?: (turn: Turn) => unknown;
  /** Writes the question for missing input under `'ask'`. `known` is the input that was read. */
  readonly question?: (known: Partial<z.input<Input>>, issues: readonly Issue[]) => string;
  /** Runs the skill. `turn.input` fits the schema. */
  run(turn: Turn & { readonly input: z.output<Input> }): AsyncIterable<TaskUpdate>;
}

/** A skill for `typedSkills`. */
export interface Skill {
  /** Its entry in the card. */
  readonly about: SkillInput;
  /** Its schemas as JSON Schema. */
  readonly schemas: { readonly input: Json; readonly output?: Json };
  /** Whether the input of a turn fits the schema. */
  fits(turn: Turn): boolean;
  /** Runs the skill, or reacts to input that does not fit. */
  run(turn: Turn): AsyncIterable<TaskUpdate>;
}

/** Defines a skill. Throws for a schema that JSON Schema cannot express. */
export function skill<Input extends z.ZodObject, Output extends z.ZodType = z.ZodType>(
  definition: SkillDefinition<Input, Output>,
): Skill {
  const {
    input,
    output,
    invalidInput = 'reject',
    read = ({ values }) => values,
    question,
    run,
    ...about
  } = definition;
  const parse = (turn: Turn) => {
    const known = read(turn);
    return { known, parsed: input.safeParse(known) };
  };
  return {
    about,
    schemas: { input: jsonSchemaOf(input), ...(output && { output: jsonSchemaOf(output) }) },
    fits: (turn) => parse(turn).parsed.success,
    async *run(turn) {
      const { known, parsed } = parse(turn);
      if (parsed.success) {
        const typed = Object.create(turn, { input: { value: parsed.data, enumerable: true } });
        return yield* mapUpdates(run(typed), (update) => checkOutput(update, output, about.id));
      }
      const issues = issuesOf(parsed.error);
      const asked =
        question?.(known as Partial<z.input<Input>>, issues) ??
        `The input does not fit:\n${describeIssues(issues)}`;
      const ask = () => askedIn(turn, formRequired(asked, { form: input, initial: plain(known) }));
      yield* answerFor(turn, invalid(invalidInput, asked, issues, ask));
    },
  };
}

function invalid(
  how: InvalidInput,
  message: string,
  issues: readonly Issue[],
  ask: () => TaskUpdate,
): TaskUpdate {
  const failure = { code: 'INVALID_INPUT', message, details: [...issues] };
  if (how === 'ask') return ask();
  if (how === 'fail') return failed(failure);
  return rejected([text(message), data(failure, { mediaType: 'application/json' })]);
}

/** Throws `INVALID_AGENT_RESPONSE` if the output does not fit the schema in the card. */
function checkOutput(update: TaskUpdate, output: z.ZodType | undefined, id: string): TaskUpdate {
  if (!output || !('artifact' in update) || update.artifact.name !== RESULT || update.append) return update;
  const part = update.artifact.parts.find((each) => 'data' in each);
  const { error } = output.safeParse(part && 'data' in part ? part.data : undefined);
  if (!error) return update;
  throw new A2AError('INVALID_AGENT_RESPONSE', `What the skill "${id}" gives is not what its card says`, {
    cause: error,
  });
}

/** The input as JSON, without members that are undefined. */
const plain = (known: unknown): Json => JSON.parse(JSON.stringify(known ?? {})) as Json;
