import type { Json } from '@batonjs/protocol';
import {
  errorsById,
  type FieldSchema,
  type FormField,
  fieldsOf,
  readFields,
} from '@batonjs/protocol/form-fields';
import type { AriaAttributes, TargetedSubmitEvent } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import { ActButton } from '../parts/bits.tsx';

interface SchemaFormProps {
  readonly schema: FieldSchema;
  readonly initial?: Json | undefined;
  /** Errors of an earlier answer by the paths of fields. */
  readonly errors?: Readonly<Record<string, string>> | undefined;
  readonly submit: string;
  readonly isBusy?: boolean;
  readonly onSubmit: (values: Json) => void;
}

/** A form for the members of an object. What a form cannot show is written as JSON. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, initial, errors = {}, submit, isBusy = false, onSubmit } = props;
  const fields = useMemo(() => fieldsOf(schema, initial), [schema, initial]);
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const send = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const read = readFields(fields, ({ id }) => entered.getAll(id).map(String));
    setWrong(read.errors);
    if (Object.keys(read.errors).length === 0) onSubmit(read.values);
  };
  const shown = errorsById(fields, { ...errors, ...wrong });
  return (
    <form class="form" onSubmit={send} noValidate>
      {shown[''] && <p class="field-problem">{shown['']}</p>}
      {fields.map((field) => (
        <Field key={field.id} field={field} errors={shown} />
      ))}
      <ActButton type="submit" kind="main" disabled={isBusy}>
        {submit}
      </ActButton>
    </form>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly errors: Readonly<Record<string, string>>;
}

function Field({ field, errors }: FieldProps) {
  const id = useId();
  const { kind, isRequired, options, description, entered } = field;
  const problem = errors[field.id];
  const label = (
    <>
      {field.title}
      {isRequired && <span class="required">required</span>}
    </>
  );
  const note = (problem ?? description) && (
    <p id={`${id}-note`} class={problem ? 'field-problem' : 'field-note'}>
      {problem ?? description}
    </p>
  );
  if (kind === 'group' || kind === 'choices')
    return (
      <fieldset class="field">
        <legend>{label}</legend>
        {field.fields.map((each) => (
          <Field key={each.id} field={each} errors={errors} />
        ))}
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
        {note}
      </fieldset>
    );
  const described = { 'aria-describedby': note ? `${id}-note` : undefined };
  const states = { 'aria-invalid': problem !== undefined, 'aria-required': isRequired };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Input field={field} shared={{ id, name: field.id, ...states, ...described }} />
      {note}
    </div>
  );
}

interface InputProps {
  readonly field: FormField;
  readonly shared: Pick<AriaAttributes, 'aria-invalid' | 'aria-required' | 'aria-describedby'> &
    Record<'id' | 'name', string>;
}

function Input({ field: { kind, isRequired, options, inputType, entered }, shared }: InputProps) {
  const [before = ''] = entered;
  if (kind === 'choice')
    return (
      <select {...shared}>
        <option value="">{isRequired ? 'Choose …' : 'None'}</option>
        {options.map(({ text }, index) => (
          <option key={text} value={index} selected={before === String(index)}>
            {text}
          </option>
        ))}
      </select>
    );
  if (kind === 'json' || kind === 'long')
    return <textarea {...shared} defaultValue={before} rows={4} class={kind === 'json' ? 'mono' : ''} />;
  const type = { type: inputType, inputMode: kind === 'number' ? 'decimal' : undefined } as { type: 'text' };
  return <input {...shared} {...type} defaultValue={before} />;
}
