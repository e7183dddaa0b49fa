import type { Json } from '@batonjs/protocol';
import {
  errorsById,
  type FieldSchema,
  type FormField,
  fieldsOf,
  readFields,
} from '@batonjs/protocol/form-fields';
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

/** What was entered so far, by the ids of fields. */
type Entered = Readonly<Record<string, readonly string[]>>;

/** A form for the members of an object. What a form cannot show is written as JSON. */
export function SchemaForm({
  schema,
  initial,
  errors = {},
  submit,
  isBusy = false,
  onSubmit,
}: SchemaFormProps) {
  const fields = useMemo(() => fieldsOf(schema, initial), [schema, initial]);
  const [entered, setEntered] = useState<Entered>({});
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const send = (event: Event) => {
    event.preventDefault();
    const read = readFields(fields, (field) => entered[field.id] ?? field.entered);
    setWrong(read.errors);
    if (Object.keys(read.errors).length === 0) onSubmit(read.values);
  };
  const shown = errorsById(fields, { ...errors, ...wrong });
  return (
    <form class="form" onSubmit={send} noValidate>
      {shown[''] && <p class="field-problem">{shown['']}</p>}
      {fields.map((field) => (
        <Field key={field.id} {...{ field, entered, errors: shown, onEntered: setEntered }} />
      ))}
      <ActButton type="submit" kind="main" disabled={isBusy}>
        {submit}
      </ActButton>
    </form>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly entered: Entered;
  readonly errors: Readonly<Record<string, string>>;
  readonly onEntered: (entered: Entered) => void;
}

function Field({ field, entered, errors, onEntered }: FieldProps) {
  const id = useId();
  const { kind, isRequired, options, description } = field;
  const problem = errors[field.id];
  const texts = entered[field.id] ?? field.entered;
  const enter = (...now: string[]) => onEntered({ ...entered, [field.id]: now });
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
          <Field key={each.id} {...{ field: each, entered, errors, onEntered }} />
        ))}
        {options.map(({ text }, index) => (
          <label key={text}>
            <input
              type="checkbox"
              checked={texts.includes(String(index))}
              onChange={({ currentTarget: { checked } }) => {
                const others = texts.filter((each) => each !== String(index));
                enter(...others, ...(checked ? [String(index)] : []));
              }}
            />{' '}
            {text}
          </label>
        ))}
        {note}
      </fieldset>
    );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Input
        field={field}
        shared={{
          id,
          value: texts[0] ?? '',
          'aria-invalid': problem !== undefined,
          'aria-required': isRequired,
          'aria-describedby': note ? `${id}-note` : undefined,
          onInput: ({ currentTarget }) => enter(currentTarget.value),
        }}
      />
      {note}
    </div>
  );
}

interface InputProps {
  readonly field: FormField;
  readonly shared: {
    readonly id: string;
    readonly value: string;
    readonly 'aria-invalid': boolean;
    readonly 'aria-required': boolean;
    readonly 'aria-describedby': string | undefined;
    onInput(event: { readonly currentTarget: { readonly value: string } }): void;
  };
}

function Input({ field: { kind, isRequired, options, inputType }, shared }: InputProps) {
  if (kind === 'choice')
    return (
      <select {...shared}>
        <option value="">{isRequired ? 'Choose …' : 'None'}</option>
        {options.map(({ text }, index) => (
          <option key={text} value={index}>
            {text}
          </option>
        ))}
      </select>
    );
  if (kind === 'json' || kind === 'long')
    return <textarea {...shared} rows={4} class={kind === 'json' ? 'mono' : ''} />;
  const type = { type: inputType } as { type: 'text' };
  return <input {...shared} {...type} inputMode={kind === 'number' ? 'decimal' : undefined} />;
}
