import type { HttpReply } from '@batonjs/bindings';
import { errorsById, type FormField, fieldsOf } from '@batonjs/protocol/form-fields';
import { textOf } from '@batonjs/protocol/parts';
import type { LinkStatus, WaitingQuestion } from '../../operations/callbacks/answer-question.ts';
import { escaped, layout, pageReply } from './browser-page.ts';

/** What the person wrote, and the faults of it by path; the empty path stands for the whole. */
export interface Refused {
  readonly posted: URLSearchParams;
  readonly errors: Readonly<Record<string, string>>;
}

/** How many characters of each text are shown. */
const most = { line: 300, text: 20_000 };

/** Another outcome than a question. */
type Settled = Exclude<LinkStatus, WaitingQuestion>;

/** What each outcome is called, and what a person may do about it. */
const outcomes: Readonly<
  Record<Settled, { readonly status: number; readonly title: string; readonly text: string }>
> = {
  answered: { status: 200, title: 'Thank you', text: 'Your answer has arrived. You can close this page.' },
  elsewhere: {
    status: 409,
    title: 'Already answered',
    text: 'This question was answered elsewhere. Nothing is left to do.',
  },
  reserved: { status: 403, title: 'For other people', text: 'This question is for other people to answer.' },
  expired: { status: 410, title: 'Too late', text: 'This link has expired. Ask for another one.' },
  ended: { status: 410, title: 'No longer needed', text: 'The task has ended without this answer.' },
  early: {
    status: 409,
    title: 'Not yet',
    text: 'The question is not asked yet. Load this page again in a moment.',
  },
  unknown: {
    status: 404,
    title: 'No such question',
    text: 'The link is not complete, or its task was deleted.',
  },
};

/** The page of a link that shows no question. */
export function settledPage(settled: Settled, agent: string): HttpReply {
  const { status, title, text } = outcomes[settled];
  return messagePage(title, text, { status, agent });
}

/** What a program gets that is no browser: the question, and what to do. */
export function linkText(linkStatus: LinkStatus, agent: string): HttpReply {
  const isOpen = typeof linkStatus === 'object';
  const { status, title, text } = isOpen ? open : outcomes[linkStatus];
  const asked = isOpen ? `${agent} asks ${linkStatus.by}: ${textOf(linkStatus.question)}` : title;
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: `${asked}\n${text}\n`,
  };
}

const open = { status: 200, title: '', text: 'Open this address in a browser to answer.' };

/** A page with a heading and a sentence. */
export const messagePage = (
  title: string,
  text: string,
  { status, agent }: { readonly status: number; readonly agent: string },
): HttpReply =>
  pageReply(
    layout(
      `${title} · ${agent}`,
      `<h1>${escaped(title, most.line)}</h1>\n<p>${escaped(text, most.line)}</p>`,
    ),
    { status },
  );

/** The page with the question and its form. `note`: what the person should know first. */
export function questionPage(
  { question, form, by, expiresAt }: WaitingQuestion,
  agent: string,
  { refused, note }: { readonly refused?: Refused; readonly note?: string } = {},
): HttpReply {
  const asked = form ? fieldsOf(form.schema, form.initial) : [];
  const errors = errorsById(asked, refused?.errors ?? form?.errors ?? {});
  const fields = form ? asked.map((field) => fieldOf(field, errors, refused?.posted)) : [textField(refused)];
  const faults = Object.keys(errors).filter(Boolean).length;
  const look = faults > 0 && `${faults === 1 ? 'One thing needs' : `${faults} things need`} a look`;
  const whole = note ?? errors[''] ?? (look || undefined);
  const until = expiresAt.slice(0, 16).replace('T', ' ');
  const page = layout(
    `${look ? `${look} · ` : ''}${agent} asks`,
    `<p class="from">${escaped(agent, most.line)} asks ${escaped(by, most.line)}</p>
<h1>${escaped(form?.title ?? 'A question', most.line)}</h1>
<p class="question">${escaped(textOf(question), most.text)}</p>
<form method="post" accept-charset="utf-8">
<input type="hidden" name="question" value="${escaped(question.messageId, most.line)}">
${whole ? `<p class="error" role="alert">${escaped(whole, most.line)}</p>\n` : ''}${focused(fields.join('\n'))}
<button>Send the answer</button>
</form>
<p class="until">It can be answered once, until ${escaped(until, most.line)} UTC.</p>`,
  );
  return pageReply(page, { status: refused ? 422 : note ? 409 : 200, form: true });
}

/** The fields with the focus on the first fault. */
const focused = (fields: string): string =>
  fields.replace(
    /(<fieldset)? aria-invalid="true"/,
    (all, set) => `${all}${set ? ' tabindex="-1"' : ''} autofocus`,
  );

const textField = (refused: Refused | undefined): string => `<label for="text">Your answer</label>
${problem('text', refused?.errors.text)}<textarea id="text" name="text" rows="4" required${describedBy('text', refused?.errors.text)}>${escaped(refused?.posted.get('text') ?? '', most.text)}</textarea>`;

function fieldOf(field: FormField, errors: Refused['errors'], posted: URLSearchParams | undefined): string {
  const { id, kind, isRequired, options, inputType } = field;
  const error = errors[id];
  const title = escaped(field.title, most.line);
  const label = isRequired ? title : `${title} <span class="optional">optional</span>`;
  const hint = field.description ? `<p class="hint">${escaped(field.description, most.text)}</p>\n` : '';
  const about = `${hint}${problem(id, error)}`;
  const set = (inner: readonly string[]) =>
    `<fieldset${describedBy(id, error)}><legend>${label}</legend>\n${about}${inner.join('\n')}\n</fieldset>`;
  if (kind === 'group') return set(field.fields.map((each) => fieldOf(each, errors, posted)));
  const entered = posted?.getAll(id) ?? field.entered;
  if (kind === 'choice' || kind === 'choices') {
    const type = kind === 'choice' ? `radio"${isRequired ? ' required' : ''}` : 'checkbox"';
    return set(
      options.map(
        ({ text }, index) =>
          `<label class="option"><input type="${type} name="${id}" value="${index}"${entered.includes(String(index)) ? ' checked' : ''}> ${escaped(text, most.line)}</label>`,
      ),
    );
  }
  const text = escaped(entered[0] ?? '', most.text);
  const attributes = `id="${id}" name="${id}"${isRequired ? ' required' : ''}${describedBy(id, error)}`;
  const type = kind === 'number' ? 'type="text" inputmode="decimal"' : `type="${inputType}"`;
  const input =
    kind === 'long' || kind === 'json'
      ? `<textarea ${attributes} rows="4"${kind === 'json' ? ' class="mono"' : ''}>${text}</textarea>`
      : `<input ${attributes} ${type} value="${text}">`;
  return `<label for="${id}">${label}</label>\n${about}${input}`;
}

const problem = (field: string, error: string | undefined): string =>
  error ? `<p class="error" id="${field}-error">${escaped(error, most.line)}</p>\n` : '';

const describedBy = (field: string, error: string | undefined): string =>
  error ? ` aria-invalid="true" aria-describedby="${field}-error"` : '';
