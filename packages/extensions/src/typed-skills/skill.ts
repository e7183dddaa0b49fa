import type { Json } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { data, failed, rejected, type SkillInput, type TaskUpdate, type Turn, text } from '@batonjs/server';
import type { z } from 'zod';
import { answerFor, mapUpdates } from '../extension.ts';
import { inputRequired as formRequired } from '../form-input/input-required.ts';
import { askedIn } from '../form-input/own-forms.ts';
import { describeIssues, type Issue, issuesOf, jsonSchemaOf } from '../schema.ts';
import { RESULT } from './result.ts';

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
