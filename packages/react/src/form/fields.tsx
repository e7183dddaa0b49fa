/** @jsxImportSource react */
import type { FormField } from '@batonjs/protocol/form-fields';
import { type ComponentProps, type ReactNode, useId } from 'react';

interface FieldsProps {
  readonly fields: readonly FormField[];
  /** By the ids of the fields. */
  readonly errors: Readonly<Record<string, string>>;
}

/** One field for each member of an object. */
export const Fields = ({ fields, errors }: FieldsProps): ReactNode =>
  fields.map((field) => <Field key={field.id} field={field} errors={errors} />);

function Field({ field, errors }: Pick<FieldsProps, 'errors'> & { readonly field: FormField }): ReactNode {
  const id = useId();
  const { kind, title, description, options, entered } = field;
  const error = errors[field.id];
  const note = (error ?? description) && (
    <small id={`${id}-note`} {...(error && { role: 'alert' })}>
      {error ?? description}
    </small>
  );
  const described = { 'aria-describedby': note ? `${id}-note` : undefined };
  if (kind === 'group' || kind === 'choices')
    return (
      <fieldset {...described}>
        <legend>{title}</legend>
        {note}
        <Fields fields={field.fields} errors={errors} />
        {options.map(({ text }, index) => (
          <label key={text}>
            <input
              type="checkbox"
              name={field.id}
              value={index}
              defaultChecked={entered.includes(String(index))}
            />{' '}
            {text}
          </label>
        ))}
      </fieldset>
    );
  return (
    <div>
      <label htmlFor={id}>{title}</label>{' '}
      <Input
        field={field}
        shared={{ id, name: field.id, 'aria-invalid': error !== undefined, ...described }}
      />
      {note}
    </div>
  );
}

interface InputProps {
  readonly field: FormField;
  readonly shared: Pick<ComponentProps<'input'>, 'id' | 'name' | 'aria-invalid' | 'aria-describedby'>;
}

function Input({ field, shared }: InputProps): ReactNode {
  const { kind, options, entered, inputType, isRequired, schema } = field;
  const common = { ...shared, required: isRequired, defaultValue: entered[0] ?? '' };
  const {
    minLength,
    maxLength,
    minimum: min,
    maximum: max,
    type,
  } = schema as Readonly<Record<string, never>>;
  switch (kind) {
    case 'choice':
      return (
        <select {...common}>
          <option value="">…</option>
          {options.map(({ text }, index) => (
            <option key={text} value={index}>
              {text}
            </option>
          ))}
        </select>
      );
    case 'number':
      return <input {...common} {...{ min, max }} type="number" step={type === 'integer' ? 1 : 'any'} />;
    case 'text':
      return <input {...common} {...{ minLength, maxLength }} type={inputType} />;
    case 'long':
      return <textarea {...common} {...{ minLength, maxLength }} />;
    default:
      return <textarea {...common} />;
  }
}
