import type { Form } from '@batonjs/extensions/client';
import type { Part } from '@batonjs/protocol';
import { errorsById, type FormField, fieldsOf, readFields } from '@batonjs/protocol/form-fields';
import { FORM_TYPE, yesOrNo } from '@batonjs/protocol/forms';

/** Asks a person for the fields of a form, a line for each. */
export class FormPrompt {
  readonly #form: Form;
  readonly #fields: readonly FormField[];
  /** Those that are still asked for. */
  readonly #left: FormField[];
  readonly #entered = new Map<string, readonly string[]>();
  #problems: Readonly<Record<string, string>>;

  constructor(form: Form) {
    this.#form = form;
    this.#fields = fieldsOf(form.schema, form.initial);
    this.#left = this.#fields.flatMap(function leaves(field): FormField[] {
      return field.kind === 'group' ? field.fields.flatMap(leaves) : [field];
    });
    this.#problems = errorsById(this.#fields, form.errors ?? {});
  }

  get isDone(): boolean {
    return this.#left.length === 0;
  }

  /** What stands before the next line. */
  get words(): string {
    const [field] = this.#left;
    if (!field) return '';
    const { id, title, description, options, entered, isRequired } = field;
    const choices = options.map(({ text }, at) => `${at + 1} ${text}`).join(', ');
    const known = entered.map((text) => options[Number(text)]?.text ?? text).join(', ');
    const hints = [description, choices, known && `now ${known}`, !isRequired && 'optional'].filter(Boolean);
    const problem = this.#problems[id] ?? '';
    return `${problem && `${problem}\n`}${title}${hints.length > 0 ? ` (${hints.join('; ')})` : ''}: `;
  }

  /** Takes a line as what was entered in the next field, which is asked for again if it does not fit. */
  take(line: string): void {
    const [field] = this.#left;
    if (!field) return;
    const texts = line.trim() === '' ? field.entered : textsFor(field, line);
    const { errors } = readFields([field], () => texts);
    this.#problems = errorsById([field], errors);
    if (this.#problems[field.id] !== undefined) return;
    this.#entered.set(field.id, texts);
    this.#left.shift();
  }

  /** The answer. */
  get part(): Part {
    const { values } = readFields(this.#fields, ({ id }) => this.#entered.get(id) ?? []);
    return { data: { formId: this.#form.formId, values }, mediaType: FORM_TYPE };
  }
}

/** A line as the texts of a field: of choices, the number or the words of one, or of several with commas. */
function textsFor({ kind, options }: FormField, line: string): readonly string[] {
  if (options.length === 0) return [line];
  const chosen = kind === 'choices' ? line.split(',') : [line];
  return chosen.map((each) => {
    const word = each.trim().toLowerCase();
    const said = yesOrNo(word);
    const at = options.findIndex(({ value, text }) => text.toLowerCase() === word || value === said);
    return String(at < 0 ? Number(word) - 1 : at);
  });
}
