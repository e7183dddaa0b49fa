import type { Json, Message } from '@batonjs/protocol';
import { answerIn, FORM_TYPE, type Form, type FormAnswer, formIn, isOwnForm } from '@batonjs/protocol/forms';
import { data, inputRequired as plainInputRequired, type TaskUpdate, text } from '@batonjs/server';
import type { z } from 'zod';
import { answerFor, around, declare, type Extension, mapUpdates, withMessages } from '../extension.ts';
import { describeIssues, type Issue, jsonSchemaOf } from '../schema.ts';
import { FORM_INPUT } from '../uris.ts';
import { asOwn, checkValues, markOwn, withHiddenForm } from './own-forms.ts';

/**
 * Lets the agent ask questions with forms. The extension checks each answer before the agent runs: it repeats the
 * question with the errors of each field, or passes the valid values on as data. Clients that do not activate the
 * extension get the question as text and may answer with text; the pages of answer links have the form all the same.
 */
export const formInput: Extension = ({ card, agent }) => ({
  card: declare(
    {
      ...card,
      defaultInputModes: [...(card.defaultInputModes ?? ['text/plain', 'application/json']), FORM_TYPE],
    },
    { uri: FORM_INPUT, description: 'Asks with forms, and takes forms for answers' },
  ),
  agent: around(agent, async (turn, inner) => {
    const { messages, refusal } = unwrap(turn.messages);
    // The agent is reminded, whatever the last answer was.
    if (refusal && !turn.woken) return answerFor(turn, askAgain(refusal));
    const answer = await inner(withMessages(turn, messages));
    const isActive = turn.extensions.includes(FORM_INPUT);
    if (!(Symbol.asyncIterator in answer)) return answer;
    return mapUpdates(answer, isActive ? markOwn : withHiddenForm);
  }),
});

/** An answer that does not fit its form. */
interface Refusal {
  readonly form: Form;
  readonly isOwn: boolean;
  readonly question: string;
  readonly issues: readonly Issue[];
  readonly values: Json;
}

/** The messages with form values as plain data and without refused values, and the refusal of the last answer. */
function unwrap(messages: readonly Message[]): { messages: Message[]; refusal?: Refusal } {
  let question: Message | undefined;
  let refusal: Refusal | undefined;
  const unwrapped = messages.map((message) => {
    if (message.role !== 'ROLE_USER') {
      question = message;
      return message;
    }
    refusal = undefined;
    const form = formIn(question);
    const parts = message.parts.map((part) => {
      const answer = answerIn(part, form);
      if (!answer) return part;
      const isOwn = isOwnForm(question);
      const issues = form && check(form, answer, isOwn);
      if (!form || !issues) return { data: form ? answer.values : {} };
      refusal = { form, isOwn, question: textOfQuestion(question), issues, values: answer.values };
      return { data: {} };
    });
    return { ...message, parts };
  });
  return { messages: unwrapped, ...(refusal && { refusal }) };
}

const check = (form: Form, { formId, values }: FormAnswer, isOwn: boolean): readonly Issue[] | undefined =>
  formId === form.formId
    ? checkValues(form, values, isOwn)
    : [{ path: '', message: 'This answers another form' }];

/** The text of the question, without the errors of an earlier answer. */
const textOfQuestion = (question: Message | undefined): string => {
  const [text = ''] = question?.parts.flatMap((part) => ('text' in part ? [part.text] : [])) ?? [];
  return text.split('\n\n')[0]!;
};

function askAgain({ form, isOwn, question, issues, values }: Refusal): TaskUpdate {
  const errors = Object.fromEntries(issues.map(({ path, message }) => [path, message]));
  const again = { ...form, initial: values, errors };
  return markOwn(askWith(`${question}\n\n${describeIssues(issues)}`, isOwn ? asOwn(again) : again));
}

/** The form of a question. */
export interface FormQuestion {
  /** The schema of the answer. People see its field names. */
  readonly form: z.ZodObject;
  readonly title?: string;
  /** Values that are known already. */
  readonly initial?: Json;
}

/**
 * Asks a question as text and as a form. The checked values of the answer arrive in `turn.values`. Requires
 * `formInput`.
 */
export const inputRequired = (question: string, { form, title, initial }: FormQuestion): TaskUpdate =>
  askWith(
    question,
    asOwn({
      formId: crypto.randomUUID(),
      ...(title && { title }),
      // Refuses members that the form does not ask for, unless its own schema allows them.
      schema: { additionalProperties: false, ...jsonSchemaOf(form) },
      ...(initial !== undefined && { initial }),
    }),
  );

/** Asks a question with an existing form. */
function askWith(question: string, form: Form): TaskUpdate {
  const update = plainInputRequired([text(question), data(form, { mediaType: FORM_TYPE })]);
  if ('status' in update && update.status.message) update.status.message.extensions = [FORM_INPUT];
  return update;
}
