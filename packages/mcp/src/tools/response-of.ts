import type { Message } from '@batonjs/protocol';
import { type FormField, fieldsOf as formFields } from '@batonjs/protocol/form-fields';
import { yesOrNo } from '@batonjs/protocol/forms';
import { isObject } from '@batonjs/protocol/json';
import { type Elicitation, fieldsOf, formOf } from './elicitation.ts';

/** What the user answered, as an MCP server reads it. */
export interface ElicitResponse {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/**
 * The answer of the user to a question of an MCP server. Undefined if it does not fit what was asked.
 *
 * A data part with an `action` decides. Otherwise a text that is only a no declines, unless it is a value of the field
 * that was asked for, and a question without fields is accepted with a yes.
 */
export function responseOf(answers: readonly Message[], asked: Elicitation): ElicitResponse | undefined {
  if (answers.length === 0) return undefined;
  const fields = fieldsOf(asked);
  const names = Object.keys(fields);
  const data = dataIn(answers);
  // Where a field has this name, the member is its value.
  const chosen = Object.hasOwn(fields, 'action') ? undefined : data.findLast(hasAction);
  if (chosen?.action === 'decline' || chosen?.action === 'cancel') return { action: chosen.action };
  const texts = textsIn(answers);
  const said = texts.map(yesOrNo);
  const isYes = chosen !== undefined || (said.length > 0 && said.every((each) => each === true));
  const isNo = said.includes(false);
  if (names.length === 0) {
    if (isNo && !chosen) return { action: 'decline' };
    if (!isYes) return undefined;
    return { action: 'accept', ...(asked.url === undefined && { content: {} }) };
  }
  const values: Record<string, unknown> = Object.assign(
    {},
    ...data.map((each) => (each === chosen ? Object(each.content) : each)),
  );
  const isFilled = () => names.some((name) => Object.hasOwn(values, name));
  if (!isFilled() && texts.length > 0) {
    // A question with one field can be answered with text.
    const [field] = names.length === 1 ? formFields(Object(asked.requestedSchema)) : [];
    const value = field && fromText(field, texts.join('\n'));
    if (value === undefined && isNo) return { action: 'decline' };
    if (value !== undefined) values[names[0]!] = value;
  }
  // A form whose fields are all optional is not accepted with words or members that fill none of them.
  const isEmptyForm = data.length > 0 && Object.keys(values).length === 0;
  if (!isFilled() && !isYes && !isEmptyForm) return undefined;
  const schema = formOf(asked);
  return !schema?.check(values) ? { action: 'accept', content: values } : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The value that a text gives a field. Undefined for a no that is not among its choices. */
function fromText({ kind, options, schema: { type } }: FormField, text: string): unknown {
  const said = yesOrNo(text);
  // Who declines gives no value.
  if (/^declined?\W*$/i.test(text)) return undefined;
  if (type === 'boolean') return /^(true|false)$/i.test(text) ? /^t/i.test(text) : said;
  // Words with a reason may be what was asked for.
  if (said === false && !/\s/.test(text) && !options.some(({ value }) => value === text)) return undefined;
  return kind === 'number' ? Number(text) : text;
}

const dataIn = (messages: readonly Message[]): Fields[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => ('data' in part && isObject(part.data) ? [part.data] : [])),
  );

/** The text of each message, without the empty ones. */
const textsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap(
    ({ parts }) =>
      parts
        .map((part) => ('text' in part ? part.text : ''))
        .join('')
        .trim() || [],
  );

const hasAction = ({ action }: Fields): boolean =>
  action === 'accept' || action === 'decline' || action === 'cancel';
