/** @jsxImportSource react */
import type { Json } from '@batonjs/protocol';
import { errorsById, type FormField, fieldsOf, readFields } from '@batonjs/protocol/form-fields';
import type { Form } from '@batonjs/protocol/forms';
import { type ComponentProps, type ReactNode, type SubmitEvent, useId, useState } from 'react';

/** The question that a form shows: what `formOf` of `@batonjs/extensions/client` returns. */
export type Question = Omit<Form, 'formId' | 'schema'> & {
  /** The JSON Schema of an object. */
  readonly schema: object;
};

/** Props of `QuestionForm`; those of `form` are passed on. */
export interface QuestionFormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly form: Question;
  /** Gets the values. While its promise is pending, the form takes no second answer; a rejection is shown. */
  readonly onAnswer: (values: Json) => unknown;
  /** What stands below the fields. Default: a button to submit. */
  readonly children?: ReactNode;
}

/**
 * A form for a question with a JSON Schema, without styles: labels, hints and errors are connected with their fields. The
 * browser checks what it can, the agent checks the rest and asks again. Members that no field can show are written as JSON.
 */
export function QuestionForm({ form, onAnswer, children, ...props }: QuestionFormProps) {
  const id = useId();
  const fields = fieldsOf(form.schema as Readonly<Record<string, unknown>>, form.initial);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const entered = new FormData(event.currentTarget);
    const { values, errors } = readFields(fields, ({ id }) => entered.getAll(id).map(String));
    setProblems(errors);
    if (Object.keys(errors).length > 0) return;
    setBusy(true);
    try {
      await onAnswer(values);
    } catch (error) {
      setProblems({ '': error instanceof Error ? error.message : String(error) });
    } finally {
      setBusy(false);
    }
  };
  const errors = errorsById(fields, { ...form.errors, ...problems });
  return (
    <form aria-labelledby={form.title && id} {...props} aria-busy={isBusy} onSubmit={submit}>
      {form.title && <h3 id={id}>{form.title}</h3>}
      {errors[''] && <p role="alert">{errors['']}</p>}
      <Fields fields={fields} errors={errors} />
      {children ?? (
        <button type="submit" disabled={isBusy}>
          Send
        </button>
      )}
    </form>
  );
}

interface FieldsProps {
  readonly fields: readonly FormField[];
  /** By the ids of the fields. */
  readonly errors: Readonly<Record<string, string>>;
}

/** One field for each member of an object. */
const Fields = ({ fields, errors }: FieldsProps): ReactNode =>
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
