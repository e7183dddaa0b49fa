import type { HttpReply } from '@batonjs/bindings';
import { errorsById, type FormField, fieldsOf } from '@batonjs/protocol/form-fields';
import { textOf } from '@batonjs/protocol/parts';
import type { LinkStatus, WaitingQuestion } from '../../operations/callbacks/answer-question.ts';
import { escaped, pageReply } from './page.ts';

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
  const whole = note ?? errors[''];
  const until = expiresAt.slice(0, 16).replace('T', ' ');
  const page = layout(
    `${agent} asks`,
    `<p class="from">${escaped(agent, most.line)} asks ${escaped(by, most.line)}</p>
<h1>${escaped(form?.title ?? 'A question', most.line)}</h1>
<p class="question">${escaped(textOf(question), most.text)}</p>
<form method="post" accept-charset="utf-8">
<input type="hidden" name="question" value="${escaped(question.messageId, most.line)}">
${whole ? `<p class="error" role="alert">${escaped(whole, most.line)}</p>\n` : ''}${fields.join('\n')}
<button>Send the answer</button>
</form>
<p class="until">It can be answered once, until ${escaped(until, most.line)} UTC.</p>`,
  );
  return pageReply(page, { status: refused ? 422 : note ? 409 : 200, form: true });
}

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

const layout = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escaped(title, most.line)}</title>
<style>${style}</style>
<main>
${body}
</main>
</html>
`;

const style = `:root{color-scheme:light dark;--ink:#1c1f26;--soft:#5b6270;--line:#d5d9e2;--field:#858b99;--card:#fff;--ground:#f4f5f8;--main:#2855d9;--on:#fff;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaf0;--soft:#a4abba;--line:#3a404c;--field:#7d8494;--card:#1d2027;--ground:#13151a;--main:#8fb0ff;--on:#10131a;--bad:#ff9d94}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:36rem;margin:6vh auto;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:12px}
@media(max-width:40rem){main{margin:0;min-height:100vh;border:0;border-radius:0;padding:1.25rem}}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}p{margin:0 0 1rem;overflow-wrap:anywhere}.question{white-space:pre-wrap;font-size:1.0625rem}
.from,.until,.hint,.optional{color:var(--soft);font-size:.875rem}.from{margin-bottom:.25rem}.until{margin:1.25rem 0 0}.hint{margin:0 0 .25rem}
form{display:grid;gap:.375rem}label,legend{font-weight:600;padding:0}.option{display:flex;gap:.5rem;align-items:center;font-weight:400;padding:.375rem 0}.optional{font-weight:400}
fieldset{border:0;padding:0;margin:0 0 .75rem}input:not([type=radio],[type=checkbox]),textarea{width:100%;font:inherit;color:inherit;background:transparent;padding:.5rem .625rem;border:1px solid var(--field);border-radius:8px;margin-bottom:.75rem}
[type=radio],[type=checkbox]{width:1.125rem;height:1.125rem;margin:0;accent-color:var(--main)}.mono{font-family:ui-monospace,monospace;font-size:.875rem}[aria-invalid]{border-color:var(--bad)}
button{justify-self:start;font:inherit;font-weight:600;color:var(--on);background:var(--main);border:0;border-radius:8px;padding:.625rem 1.125rem;cursor:pointer}
:focus-visible{outline:2px solid var(--main);outline-offset:2px}.error{color:var(--bad);font-size:.9375rem;margin:0 0 .25rem}`;
