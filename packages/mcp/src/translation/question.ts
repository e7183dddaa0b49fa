import { type AnswerMessage, answer, textOf } from '@batonjs/client';
import { withMade } from '@batonjs/client/answers';
import { formOf } from '@batonjs/extensions/client';
import type { Json, Task } from '@batonjs/protocol';
import { type FieldSchema, type FormField, fieldsOf, readFields } from '@batonjs/protocol/form-fields';
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

/** The schema of a form as a flat one; undefined if a field is none that elicitation knows. */
function flatSchema(schema: FieldSchema, initial: Json | undefined): FlatSchema | undefined {
  const fields = fieldsOf(schema, initial);
  const flat = fields.map((field) => [field.member, flatField(field)] as const);
  if (fields.length === 0 || flat.some(([, field]) => !field)) return undefined;
  const known = readFields(fields, ({ entered }) => entered).values;
  const properties = flat.map(([name, field]) => {
    return [name, { ...field, ...(Object.hasOwn(known, name) && { default: known[name] }) }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: fields.filter(({ isRequired }) => isRequired).map(({ member }) => member),
  };
}

function flatField({ kind, options, schema, description }: FormField): object | undefined {
  const only = (...names: string[]) => Object.fromEntries(names.flatMap((name) => membersIn(schema, name)));
  const about = {
    ...(typeof schema.title === 'string' && only('title')),
    ...(description && { description }),
  };
  switch (kind) {
    case 'text':
    case 'long':
      return {
        type: 'string',
        ...about,
        ...only('minLength', 'maxLength'),
        ...(formats.includes(schema.format) && only('format')),
      };
    case 'number':
      return {
        type: [schema.type].flat().includes('integer') ? 'integer' : 'number',
        ...about,
        ...only('minimum', 'maximum'),
      };
    case 'choice': {
      const values = options.map(({ value }) => value);
      if (values.every((value) => typeof value === 'string'))
        return { type: 'string', ...about, enum: values };
      return values.every((value) => typeof value === 'boolean') && values.length === 2
        ? { type: 'boolean', ...about }
        : undefined;
    }
    default:
      return undefined;
  }
}

const membersIn = (schema: FieldSchema, name: string) =>
  schema[name] === undefined ? [] : [[name, schema[name]] as const];
