import type { Json } from '@batonjs/protocol';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { ActButton } from './act-button.tsx';

/** A JSON Schema, as far as a form can show it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: Json;
}

interface SchemaFormProps {
  readonly schema: Schema;
  readonly initial?: Json | undefined;
  /** Errors of an earlier answer by field. */
  readonly errors?: Readonly<Record<string, string>> | undefined;
  readonly submit: string;
  readonly isBusy?: boolean;
  readonly onSubmit: (values: Json) => void;
}

/** A form for the members of an object. What a form cannot show is written as JSON. */
export function SchemaForm({
  schema,
  initial,
  errors = {},
  submit,
  isBusy = false,
  onSubmit,
}: SchemaFormProps) {
  const start = Object(initial) as Readonly<Record<string, Json>>;
  const fields = Object.entries(schema.properties ?? {});
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      fields.map(([name, field]) => [name, textOfValue(start[name] ?? field.default, field)]),
    ),
  );
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const send = (event: Event) => {
    event.preventDefault();
    const values: Record<string, Json> = {};
    const problems: Record<string, string> = {};
    for (const [name, field] of fields) {
      const read = readField(texts[name] ?? '', field, schema.required?.includes(name) ?? false);
      if ('problem' in read) problems[name] = read.problem;
      else if (read.value !== undefined) values[name] = read.value;
    }
    setWrong(problems);
    if (Object.keys(problems).length === 0) onSubmit(values);
  };
  const whole = errors[''];
  return (
    <form class="form" onSubmit={send} noValidate>
      {whole && <p class="field-problem">{whole}</p>}
      {fields.map(([name, field]) => (
        <Field
          key={name}
          name={name}
          field={field}
          isRequired={schema.required?.includes(name) ?? false}
          text={texts[name] ?? ''}
          problem={wrong[name] ?? errors[name]}
          onText={(text) => setTexts({ ...texts, [name]: text })}
        />
      ))}
      <ActButton type="submit" kind="main" disabled={isBusy}>
        {submit}
      </ActButton>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly field: Schema;
  readonly isRequired: boolean;
  readonly text: string;
  readonly problem: string | undefined;
  readonly onText: (text: string) => void;
}

function Field({ name, field, isRequired, text, problem, onText }: FieldProps) {
  const id = useId();
  const type = typeOf(field);
  const shared = {
    id,
    'aria-invalid': problem !== undefined,
    'aria-required': isRequired,
    'aria-describedby': problem || field.description ? `${id}-note` : undefined,
  };
  let input: ComponentChildren;
  if (field.enum || type === 'boolean') {
    const options = field.enum ?? [true, false];
    input = (
      <select {...shared} value={text} onChange={(event) => onText(event.currentTarget.value)}>
        <option value="">{isRequired ? 'Choose …' : 'None'}</option>
        {options.map((option) => (
          <option key={String(option)} value={String(option)}>
            {option === true ? 'Yes' : option === false ? 'No' : String(option)}
          </option>
        ))}
      </select>
    );
  } else if (type === 'json' || (field.maxLength ?? 0) > 200) {
    input = (
      <textarea
        {...shared}
        rows={4}
        class={type === 'json' ? 'mono' : ''}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    );
  } else {
    input = (
      <input
        {...shared}
        {...({ type: inputType(field) } as { type: 'text' })}
        inputMode={type === 'number' || type === 'integer' ? 'decimal' : undefined}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    );
  }
  return (
    <div class="field">
      <label for={id}>
        {field.title ?? name}
        {isRequired && <span class="required">required</span>}
      </label>
      {input}
      {(problem ?? field.description) && (
        <p id={`${id}-note`} class={problem ? 'field-problem' : 'field-note'}>
          {problem ?? field.description}
        </p>
      )}
    </div>
  );
}

function typeOf({ type, properties }: Schema): 'string' | 'number' | 'integer' | 'boolean' | 'json' {
  const [first] = [type ?? (properties ? 'object' : 'string')].flat().filter((each) => each !== 'null');
  return first === 'string' || first === 'number' || first === 'integer' || first === 'boolean'
    ? first
    : 'json';
}

const inputType = ({ format }: Schema): 'date' | 'email' | 'url' | 'text' => {
  if (format === 'date' || format === 'email') return format;
  return format === 'uri' ? 'url' : 'text';
};

function textOfValue(value: Json | undefined, field: Schema): string {
  if (value === undefined || value === null) return '';
  return typeOf(field) === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

type Read = { readonly value: Json | undefined } | { readonly problem: string };

function readField(text: string, field: Schema, isRequired: boolean): Read {
  if (text.trim() === '') return isRequired ? { problem: 'Required' } : { value: undefined };
  if (field.enum) return { value: field.enum.find((option) => String(option) === text) };
  const type = typeOf(field);
  if (type === 'boolean') return { value: text === 'true' };
  if (type === 'string') return bounded(text, field);
  if (type === 'json') {
    try {
      return { value: JSON.parse(text) as Json };
    } catch {
      return { problem: 'This is no JSON' };
    }
  }
  const number = Number(text.replace(',', '.'));
  if (Number.isNaN(number)) return { problem: 'This is no number' };
  if (type === 'integer' && !Number.isInteger(number)) return { problem: 'This is no whole number' };
  if (field.minimum !== undefined && number < field.minimum) return { problem: `At least ${field.minimum}` };
  if (field.maximum !== undefined && number > field.maximum) return { problem: `At most ${field.maximum}` };
  return { value: number };
}

function bounded(text: string, { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema): Read {
  if (text.length < minLength) return { problem: `At least ${minLength} characters` };
  if (text.length > maxLength) return { problem: `At most ${maxLength} characters` };
  return { value: text };
}
