/** @jsxImportSource react */
import type { Json } from '@batonjs/protocol';
import { type ComponentProps, type ReactNode, type SubmitEvent, useId, useState } from 'react';
import { Fields } from './fields.tsx';
import { problemsOf, type Schema, valuesOf } from './json-schema.ts';

/** The question that a form shows: what `formOf` of `@batonjs/extensions/client` returns. */
export interface Question {
  readonly title?: string;
  /** The JSON Schema of an object. */
  readonly schema: object;
  /** Values that are known already. */
  readonly initial?: Json;
  /** The errors of the previous answer by field; the empty name stands for the whole answer. */
  readonly errors?: Readonly<Record<string, string>>;
}

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
 * browser checks what it can, the agent checks the rest and asks again. Members that no field can show are written as
 * JSON.
 */
export function QuestionForm({ form, onAnswer, children, ...props }: QuestionFormProps) {
  const id = useId();
  const schema = form.schema as Schema;
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const entered = new FormData(event.currentTarget);
    const wrong = problemsOf(schema, entered);
    setProblems(wrong);
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    try {
      await onAnswer(valuesOf(schema, entered));
    } catch (error) {
      setProblems({ '': error instanceof Error ? error.message : String(error) });
    } finally {
      setBusy(false);
    }
  };
  const errors = { ...form.errors, ...problems };
  return (
    <form aria-labelledby={form.title && id} {...props} aria-busy={isBusy} onSubmit={submit}>
      {form.title && <h3 id={id}>{form.title}</h3>}
      {errors[''] && <p role="alert">{errors['']}</p>}
      <Fields schema={schema} initial={form.initial} errors={errors} />
      {children ?? (
        <button type="submit" disabled={isBusy}>
          Send
        </button>
      )}
    </form>
  );
}
