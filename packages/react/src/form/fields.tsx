/** @jsxImportSource react */
import type { Json } from '@batonjs/protocol';
import { type ReactNode, useId } from 'react';
import { choicesOf, kindOf, nameOf, type Schema } from './json-schema.ts';

interface FieldsProps {
  readonly schema: Schema;
  readonly initial: Json | undefined;
  readonly errors: Readonly<Record<string, string>>;
  readonly path?: readonly string[];
}

/** One field for each member of an object. */
export function Fields({ schema, initial, errors, path = [] }: FieldsProps): ReactNode {
  const known: Readonly<Record<string, Json>> = Object(initial);
  return Object.entries(schema.properties ?? {}).map(([member, field]) => (
    <Field
      key={member}
      schema={field}
      initial={Object.hasOwn(known, member) ? known[member] : field.default}
      errors={errors}
      path={[...path, member]}
      isRequired={schema.required?.includes(member) ?? false}
    />
  ));
}

interface FieldProps extends FieldsProps {
  readonly path: readonly string[];
  readonly isRequired: boolean;
}

function Field({ schema, initial, errors, path, isRequired }: FieldProps): ReactNode {
  const id = useId();
  const name = nameOf(path);
  const kind = kindOf(schema);
  const error = errors[name] ?? errors[path.join('.')];
  const label = schema.title ?? path.at(-1);
  const note = (error ?? schema.description) && (
    <small id={`${id}-note`} {...(error && { role: 'alert' })}>
      {error ?? schema.description}
    </small>
  );
  if (kind === 'object')
    return (
      <fieldset aria-describedby={note ? `${id}-note` : undefined}>
        <legend>{label}</legend>
        {note}
        <Fields schema={schema} initial={initial} errors={errors} path={path} />
      </fieldset>
    );
  const shared = {
    id,
    name,
    'aria-invalid': error !== undefined,
    'aria-describedby': note ? `${id}-note` : undefined,
  };
  if (kind === 'choices')
    return (
      <fieldset aria-describedby={shared['aria-describedby']}>
        <legend>{label}</legend>
        {note}
        {(choicesOf(schema.items ?? {}) ?? []).map((choice, index) => (
          <label key={String(index)}>
            <input
              type="checkbox"
              name={name}
              value={index}
              defaultChecked={Array.isArray(initial) && initial.some((each) => isSame(each, choice))}
            />{' '}
            {textOf(choice)}
          </label>
        ))}
      </fieldset>
    );
  return (
    <div>
      <label htmlFor={id}>{label}</label> <Input {...{ schema, initial, shared, isRequired }} />
      {note}
    </div>
  );
}

interface InputProps {
  readonly schema: Schema;
  readonly initial: Json | undefined;
  readonly shared: { readonly id: string; readonly name: string };
  readonly isRequired: boolean;
}

function Input({ schema, initial, shared, isRequired }: InputProps): ReactNode {
  const kind = kindOf(schema);
  const { minLength, maxLength, minimum: min, maximum: max } = schema;
  const text = textOf(initial);
  switch (kind) {
    case 'boolean':
      return <input {...shared} type="checkbox" defaultChecked={initial === true} />;
    case 'choice': {
      const choices = choicesOf(schema) ?? [];
      const chosen = choices.findIndex((each) => isSame(each, initial));
      return (
        <select {...shared} required={isRequired} defaultValue={chosen < 0 ? '' : String(chosen)}>
          <option value="">…</option>
          {choices.map((choice, index) => (
            <option key={String(index)} value={index}>
              {textOf(choice)}
            </option>
          ))}
        </select>
      );
    }
    case 'number': {
      const isInteger = schema.type === 'integer';
      const step = isInteger ? 1 : 'any';
      return (
        <input {...shared} {...{ min, max, step }} type="number" required={isRequired} defaultValue={text} />
      );
    }
    case 'text': {
      const type = inputTypes[schema.format ?? ''] ?? 'text';
      return (
        <input
          {...shared}
          {...{ minLength, maxLength }}
          type={type}
          required={isRequired}
          defaultValue={text}
        />
      );
    }
    case 'long-text':
      return <textarea {...shared} {...{ minLength, maxLength }} required={isRequired} defaultValue={text} />;
    default:
      return (
        <textarea
          {...shared}
          required={isRequired}
          defaultValue={initial === undefined ? '' : JSON.stringify(initial, null, 2)}
        />
      );
  }
}

const inputTypes: Readonly<Record<string, string | undefined>> = {
  date: 'date',
  time: 'time',
  email: 'email',
  uri: 'url',
};

const textOf = (value: Json | undefined): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
