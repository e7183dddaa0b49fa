import type { Json } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import {
  data,
  failed,
  inputRequired,
  rejected,
  type SkillInput,
  type TaskUpdate,
  type Turn,
  text,
  type Updates,
} from '@batonjs/server';
import type { z } from 'zod';
import { changed } from '../extension.ts';
import { inputRequired as formRequired } from '../form-input/input-required.ts';
import { describeIssues, type Issue, issuesOf, jsonSchemaOf } from '../schema.ts';
import { FORM_INPUT } from '../uris.ts';
import { RESULT } from './result.ts';

/** What happens to input that does not fit: the task is REJECTED, the client is asked, or the task FAILS. */
export type InvalidInput = 'reject' | 'ask' | 'fail';

/** What you say about a skill: what its card says, and what it takes, gives and does. */
export interface SkillDefinition<Input extends z.ZodObject, Output extends z.ZodType> extends SkillInput {
  readonly input: Input;
  /** What the data of the artifact `result` is. */
  readonly output?: Output;
  /** Default `'reject'`. */
  readonly invalidInput?: InvalidInput;
  /** Where the input comes from. Default: the data that the client sent in this task, later members winning. */
  readonly read?: (turn: Turn) => unknown;
  /** How to ask for what is missing, under `'ask'`. `known` is what was read. */
  readonly question?: (known: Partial<z.input<Input>>, issues: readonly Issue[]) => string;
  /** Does it. `turn.input` fits the schema. */
  run(turn: Turn & { readonly input: z.output<Input> }): AsyncIterable<TaskUpdate>;
}

/** A skill that can be served. */
export interface Skill {
  readonly about: SkillInput;
  /** Its schemas as JSON Schema. */
  readonly schemas: { readonly input: Json; readonly output?: Json };
  /** Whether what the client said fits. */
  fits(turn: Turn): boolean;
  run(turn: Turn): AsyncIterable<TaskUpdate>;
}

/** Defines a skill. Throws for schemas that JSON Schema cannot express. */
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
        return yield* changed(run(typed), (update) => checkOutput(update, output, about.id));
      }
      const issues = issuesOf(parsed.error);
      const asked =
        question?.(known as Partial<z.input<Input>>, issues) ??
        `The input does not fit:\n${describeIssues(issues)}`;
      yield* invalid(invalidInput, asked, issues, () =>
        turn.extensions.includes(FORM_INPUT)
          ? formRequired(asked, { form: input, initial: plain(known) })
          : inputRequired(asked),
      );
    },
  };
}

async function* invalid(
  how: InvalidInput,
  message: string,
  issues: readonly Issue[],
  ask: () => TaskUpdate,
): Updates {
  const failure = { code: 'INVALID_INPUT', message, details: issues as unknown as Json };
  if (how === 'ask') yield ask();
  else if (how === 'fail') yield failed(failure);
  else yield rejected([text(message), data(failure, { mediaType: 'application/json' })]);
}

/** The agent's own rule: what it promises in its card it keeps. */
function checkOutput(update: TaskUpdate, output: z.ZodType | undefined, id: string): TaskUpdate {
  if (!output || !('artifact' in update) || update.artifact.name !== RESULT || update.append) return update;
  const part = update.artifact.parts.find((each) => 'data' in each);
  const { error } = output.safeParse(part && 'data' in part ? part.data : undefined);
  if (!error) return update;
  throw new A2AError('INVALID_AGENT_RESPONSE', `What the skill "${id}" gives is not what its card says`, {
    cause: error,
  });
}

/** What is known as JSON: fields without a value are left out. */
const plain = (known: unknown): Json => JSON.parse(JSON.stringify(known ?? {})) as Json;
