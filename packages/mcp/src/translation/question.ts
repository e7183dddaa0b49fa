import { type AnswerMessage, answer, textOf } from '@batonjs/client';
import { withMade } from '@batonjs/client/answers';
import { formOf } from '@batonjs/extensions/client';
import type { Json, Task } from '@batonjs/protocol';
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';

/** The flat schemas that elicitation knows: an object of texts, numbers, booleans and choices. */
export type FlatSchema = ElicitRequestFormParams['requestedSchema'];

/** The question of a task, as the client of MCP shows it. */
export interface Question {
  readonly message: string;
  readonly requestedSchema: FlatSchema;
  /** The message that answers the question with what the user entered. */
  toMessage(content: Readonly<Record<string, unknown>> | undefined): AnswerMessage;
}

const textField: FlatSchema = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

/** The question that a task waits with: its form where elicitation can show it, else one field of text. */
export function questionOf(task: Task): Question {
  const form = formOf(task);
  const message = withMade(questionText(task), task);
  const requestedSchema = form && flatSchema(form.schema, form.initial);
  if (requestedSchema)
    return { message, requestedSchema, toMessage: (content = {}) => answer(task, content as Json) };
  return {
    message,
    requestedSchema: textField,
    toMessage: (content) => answer(task, String(content?.answer ?? '')),
  };
}

/** The text of a question; a form has one too. */
export const questionText = ({ status }: Task): string =>
  textOf(status.message) || 'The agent waits for an answer.';

const formats: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];
const kept: Readonly<Record<string, readonly string[]>> = {
  string: ['title', 'description', 'minLength', 'maxLength'],
  number: ['title', 'description', 'minimum', 'maximum'],
  integer: ['title', 'description', 'minimum', 'maximum'],
  boolean: ['title', 'description'],
};

/** The schema of a form as a flat one; undefined if a field is none that elicitation knows. */
function flatSchema(schema: Readonly<Record<string, unknown>>, initial: unknown): FlatSchema | undefined {
  const properties: Record<string, unknown> = {};
  const known = Object(initial) as Readonly<Record<string, unknown>>;
  for (const [name, field] of Object.entries(
    Object(schema.properties) as Readonly<Record<string, unknown>>,
  )) {
    const flat = flatField(Object(field) as Readonly<Record<string, unknown>>);
    if (!flat) return undefined;
    const type = flat.type === 'integer' ? 'number' : flat.type;
    const value = [known[name], Object(field).default].find((each) => typeof each === type);
    properties[name] = { ...flat, ...(value !== undefined && { default: value }) };
  }
  if (schema.type !== 'object' || Object.keys(properties).length === 0) return undefined;
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
    : [];
  return { type: 'object', properties: properties as FlatSchema['properties'], required };
}

function flatField(field: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const { type, format } = field;
  const choices = field.enum ?? (field.const === undefined ? undefined : [field.const]);
  if (typeof type !== 'string' || !Object.hasOwn(kept, type)) return undefined;
  if (choices !== undefined && !(type === 'string' && isTexts(choices))) return undefined;
  const members = kept[type]!.filter((name) => field[name] !== undefined).map((name) => [name, field[name]]);
  return {
    type,
    ...Object.fromEntries(members),
    ...(choices !== undefined && { enum: choices }),
    ...(type === 'string' && formats.includes(format) && { format }),
  };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
