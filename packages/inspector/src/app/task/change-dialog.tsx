import { FORM_TYPE, type Form, formOf } from '@batonjs/extensions/client';
import type { Json, Part } from '@batonjs/protocol';
import { useRef, useState } from 'preact/hooks';
import type { Entry, PartMembers } from '../../api/timeline.ts';
import { SchemaForm } from '../forms/schema-form.tsx';
import { ActButton, Mistake, Question } from '../parts/bits.tsx';
import type { Replay } from '../timeline/replay.ts';

/** Something that a task did or was told, and how it runs again with something else in its place. */
interface Change {
  readonly title: string;
  readonly value: Json;
  /** The value is shown as it is, not as JSON. */
  readonly isText?: boolean;
  readonly form?: Form | undefined;
  /** What a fork is asked for. */
  readonly asked: (value: Json) => {
    readonly position?: number;
    readonly message?: Part[];
    readonly result?: Json;
  };
}

/** What can be changed of an entry: the result of a step, or a message to the task as it was before. */
export function changeOf({ seq, fact }: Entry, before: Replay): Change | undefined {
  if (fact?.type === 'message-received') return changeOfMessage(fact.message, before, seq);
  if (fact?.type !== 'step-completed') return undefined;
  const { name, result } = fact;
  return {
    title: `The result of ${name}`,
    value: result as Json,
    asked: (value) => ({ position: seq, result: value }),
  };
}

/** What can be changed of a message: its first text or data. `seq`: its position in the log. */
export function changeOfMessage(
  { parts }: { readonly parts: readonly Part[] },
  before?: Replay,
  seq = 1,
): Change | undefined {
  const at = parts.findIndex((part: PartMembers) => part.text !== undefined || part.data !== undefined);
  const part: PartMembers | undefined = parts[at];
  if (!part) return undefined;
  const { text, data, mediaType } = part;
  const asked = (changed: object) => ({
    ...(seq > 1 && { position: seq - 1 }),
    message: parts.with(at, { ...part, ...changed } as Part),
  });
  const title = seq > 1 ? 'The answer' : 'The first message';
  if (text !== undefined) return { title, isText: true, value: text, asked: (text) => asked({ text }) };
  const shown = before?.task && formOf(before.task);
  if (mediaType !== FORM_TYPE)
    return {
      title,
      form: shown ?? before?.question?.form,
      value: data ?? null,
      asked: (data) => asked({ data }),
    };
  const answer = Object(data) as { readonly values?: Json };
  return {
    title,
    form: shown,
    value: answer.values ?? {},
    asked: (values) => asked({ data: { ...answer, values } }),
  };
}

interface ChangeDialogProps {
  readonly change: Change;
  /** What opens it. */
  readonly label: string;
  readonly onRun: (asked: ReturnType<Change['asked']>) => void;
}

/** Changes something before a task runs again from there. */
export function ChangeDialog({
  change: { title, value, isText, form, asked },
  label,
  onRun,
}: ChangeDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(() => (isText ? String(value) : JSON.stringify(value, null, 2)));
  const [mistake, setMistake] = useState<string>();
  const run = (changed: Json) => {
    dialog.current?.close();
    onRun(asked(changed));
  };
  const read = () => {
    try {
      run(isText ? text : (JSON.parse(text) as Json));
    } catch {
      setMistake('This is no JSON.');
    }
  };
  return (
    <>
      <ActButton kind="quiet" class="other-words" onClick={() => dialog.current?.showModal()}>
        {label}
      </ActButton>
      <Question
        title={`Run again: ${title.toLowerCase()}`}
        dialog={dialog}
        buttons={
          !form && (
            <ActButton kind="main" disabled={text.trim() === ''} onClick={read}>
              Run
            </ActButton>
          )
        }
      >
        {form ? (
          <SchemaForm schema={form.schema} initial={value} submit="Run" onSubmit={run} />
        ) : (
          <label class="composer-text">
            <span class="field-name">{title}</span>
            <textarea
              rows={5}
              dir="auto"
              class={isText ? '' : 'mono'}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
        )}
        <Mistake text={mistake} />
      </Question>
    </>
  );
}
