import type { HttpReply } from '@batonjs/bindings';
import type { Part } from '@batonjs/protocol';
import { errorsById, type FormField, fieldsOf } from '@batonjs/protocol/form-fields';
import { FORM_TYPE } from '@batonjs/protocol/forms';
import { textOf } from '@batonjs/protocol/parts';
import type { PageWords } from '../../base/page-words.ts';
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

/** The status of each outcome, what it is called, and what a person may do about it. */
const outcomes: Readonly<Record<Settled | 'open', readonly [status: number, title: string, text: string]>> = {
  answered: [200, 'Thank you', 'Your answer has arrived. You can close this page.'],
  elsewhere: [409, 'Already answered', 'This question was answered elsewhere. Nothing is left to do.'],
  reserved: [403, 'For other people', 'This question is for other people to answer.'],
  expired: [410, 'Too late', 'This link has expired. Ask for another one.'],
  ended: [410, 'No longer needed', 'The task has ended without this answer.'],
  early: [409, 'Not yet', 'The question is not asked yet. Load this page again in a moment.'],
  unknown: [404, 'No such question', 'The link is not complete, or its task was deleted.'],
  open: [200, 'Open questions', 'Open this address in a browser to answer.'],
};

/** Who asks in which words, and whether there is a page of all questions of the person. */
export interface Asking {
  readonly agent: string;
  readonly words: PageWords;
  readonly isOfInbox?: boolean;
}

const line = (text: string): string => escaped(text, most.line);

/** The page of a link that shows no question. */
export function settledPage(settled: Settled, asking: Asking): HttpReply {
  const [status, title, text] = outcomes[settled];
  return messagePage(status, title, text, asking);
}

/** What a program gets that is no browser: the question, and what to do. */
export function linkText(linkStatus: LinkStatus | 'open', { agent, words: { say } }: Asking): HttpReply {
  const asked = typeof linkStatus === 'object' ? linkStatus : undefined;
  const [status, title, text] = outcomes[typeof linkStatus === 'object' ? 'open' : linkStatus];
  const said = asked ? `${say('{} asks {}', agent, asked.by)}: ${textOf(asked.question)}` : say(title);
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: `${said}\n${say(text)}\n`,
  };
}

/** A page with a heading and a sentence. */
export function messagePage(status: number, title: string, text: string, asking: Asking): HttpReply {
  const { say, lang } = asking.words;
  const body = `<h1>${line(say(title))}</h1>\n<p>${line(say(text))}</p>${wayBack(asking)}`;
  return pageReply(layout(`${say(title)} · ${asking.agent}`, body, lang), { status });
}

const wayBack = ({ isOfInbox, words: { say } }: Asking): string =>
  isOfInbox ? `\n<p><a href="?">${line(say('Open questions'))}</a></p>` : '';

/** The open questions of a person, each with the way to its page. */
export function inboxPage(
  by: string,
  questions: readonly (WaitingQuestion & { readonly taskId: string })[],
  { agent, words: { say, time, lang } }: Asking,
): HttpReply {
  const rows = questions.map(({ taskId, question, form, expiresAt }) => {
    const title = line(textOf(question) || (form?.title ?? say('A question')));
    const until = line(say('It can be answered once, until {}.', time(expiresAt)));
    return `<li><a href="?task=${encodeURIComponent(taskId)}">${title}</a>\n<p class="hint">${until}</p></li>`;
  });
  const list =
    rows.length > 0 ? `<ul>${rows.join('\n')}</ul>` : `<p>${line(say('Nothing waits for an answer.'))}</p>`;
  const title = say('Open questions');
  const body = `<p class="from">${line(say('{} asks {}', agent, by))}</p>\n<h1>${line(title)}</h1>\n${list}`;
  return pageReply(layout(`${title} · ${agent}`, body, lang));
}

/** The page with the question and its form. `isChanged`: it is another one than the person answered. */
export function questionPage(
  { question, form, by, expiresAt }: WaitingQuestion,
  asking: Asking,
  { refused, isChanged = false }: { readonly refused?: Refused; readonly isChanged?: boolean } = {},
): HttpReply {
  const { words } = asking;
  const { say } = words;
  const asked = form ? fieldsOf(form.schema, form.initial) : [];
  const errors = errorsById(asked, refused?.errors ?? form?.errors ?? {});
  const page = { words, errors, posted: refused?.posted };
  const fields = form ? asked.map((field) => fieldOf(field, page)) : [textField(refused, words)];
  const faults = Object.keys(errors).filter(Boolean).length;
  const look = faults === 1 ? say('One thing needs a look') : say('{} things need a look', `${faults}`);
  const changed = isChanged && 'The question has changed since this page was loaded. Look at it again.';
  const whole = say(changed || (errors[''] ?? (faults > 0 ? look : '')));
  const from = say('{} asks {}', asking.agent, by);
  const body = `<p class="from">${line(from)}</p>
<h1>${line(form?.title ?? say('A question'))}</h1>
<p class="question">${escaped(textOf(question), most.text)}</p>
${question.parts.map((part) => besideOf(part, say('Details'))).join('')}<form method="post" accept-charset="utf-8">
<input type="hidden" name="question" value="${line(question.messageId)}">
${whole ? `<p class="error" role="alert">${line(whole)}</p>\n` : ''}${focused(fields.join('\n'))}
<button>${line(say('Send the answer'))}</button>
</form>
<p class="until">${line(say('It can be answered once, until {}.', words.time(expiresAt)))}</p>${wayBack(asking)}`;
  const title = faults > 0 ? `${look} · ${from}` : from;
  const status = refused ? 422 : isChanged ? 409 : 200;
  return pageReply(layout(title, body, words.lang), { status, form: true });
}

/** A part beside the words: a file, or data, which opens. A picture that is in the message is shown. */
function besideOf(part: Part, details: string): string {
  const { mediaType = '', filename = mediaType } = part;
  if ('data' in part && mediaType !== FORM_TYPE) {
    const data = escaped(JSON.stringify(part.data, undefined, 2), most.text);
    return `<details><summary>${line(details)}</summary><pre>${data}</pre></details>\n`;
  }
  const url = 'raw' in part ? `data:${mediaType};base64,${part.raw}` : 'url' in part ? `${part.url}` : '';
  if (!/^(https?|data):/i.test(url)) return '';
  const [href, name] = [escaped(url, Number.POSITIVE_INFINITY), line(filename || details)];
  return /^data:image\/(png|jpeg|gif|webp);/.test(href)
    ? `<p><img src="${href}" alt="${name}"></p>\n`
    : `<p><a href="${href}" download="${name}" target="_blank" rel="noreferrer">${name}</a></p>\n`;
}

/** The fields with the focus on the first fault. */
const focused = (fields: string): string =>
  fields.replace(
    /(<fieldset)? aria-invalid="true"/,
    (all, set) => `${all}${set ? ' tabindex="-1"' : ''} autofocus`,
  );

const textField = (refused: Refused | undefined, words: PageWords): string => {
  const error = refused?.errors.text;
  return `<label for="text">${line(words.say('Your answer'))}</label>
${problem('text', error, words)}<textarea id="text" name="text" rows="4" required${describedBy('text', error)}>${escaped(refused?.posted.get('text') ?? '', most.text)}</textarea>`;
};

interface FieldPage extends Pick<Asking, 'words'> {
  readonly errors: Refused['errors'];
  readonly posted: URLSearchParams | undefined;
}

function fieldOf(field: FormField, page: FieldPage): string {
  const { id, kind, isRequired, options } = field;
  const { words, errors, posted } = page;
  const error = errors[id];
  const title = line(field.title);
  const label = isRequired ? title : `${title} <span class="optional">${line(words.say('optional'))}</span>`;
  const hint = field.description ? `<p class="hint">${escaped(field.description, most.text)}</p>\n` : '';
  const about = `${hint}${problem(id, error, words)}`;
  const set = (inner: readonly string[]) =>
    `<fieldset${describedBy(id, error)}><legend>${label}</legend>\n${about}${inner.join('\n')}\n</fieldset>`;
  if (kind === 'group') return set(field.fields.map((each) => fieldOf(each, page)));
  const isTime = isMoment(field);
  const known = isTime ? field.entered.map((moment) => words.wallClock(moment)) : field.entered;
  const entered = posted?.getAll(id) ?? known;
  if (kind === 'choice' || kind === 'choices') {
    const type = kind === 'choice' ? `radio"${isRequired ? ' required' : ''}` : 'checkbox"';
    return set(
      options.map(
        ({ text, value }, index) =>
          `<label class="option"><input type="${type} name="${id}" value="${index}"${entered.includes(String(index)) ? ' checked' : ''}> ${escaped(typeof value === 'boolean' ? words.say(value ? 'Yes' : 'No') : text, most.line)}</label>`,
      ),
    );
  }
  const text = escaped(entered[0] ?? '', most.text);
  const attributes = `id="${id}" name="${id}"${isRequired ? ' required' : ''}${describedBy(id, error)}`;
  const inputType = isTime ? 'datetime-local' : field.inputType;
  const type = kind === 'number' ? 'type="text" inputmode="decimal"' : `type="${inputType}"`;
  const zone = isTime ? ` <span class="optional">${line(words.timeZone)}</span>` : '';
  const input =
    kind === 'long' || kind === 'json'
      ? `<textarea ${attributes} rows="4"${kind === 'json' ? ' class="mono"' : ''}>${text}</textarea>`
      : `<input ${attributes} ${type} value="${text}">`;
  return `<label for="${id}">${label}${zone}</label>\n${about}${input}`;
}

/** Whether a field takes a moment: by the clocks of the page's zone, which is named beside it. */
export const isMoment = ({ kind, schema }: FormField): boolean =>
  kind === 'text' && schema.format === 'date-time';

const problem = (field: string, error: string | undefined, words: PageWords): string =>
  error ? `<p class="error" id="${field}-error">${line(words.say(error))}</p>\n` : '';

const describedBy = (field: string, error: string | undefined): string =>
  error ? ` aria-invalid="true" aria-describedby="${field}-error"` : '';
