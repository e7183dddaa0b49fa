import type { Json, Message } from '@batonjs/protocol';
import type { TaskUpdate } from '@batonjs/server';
import { z } from 'zod';
import { around, declare, type Extension, mapUpdates, withMessages, withoutParts } from '../extension.ts';
import { describeIssues, type Issue, issuesOf } from '../schema.ts';
import { FORM_INPUT } from '../uris.ts';
import { answerIn, FORM_TYPE, type Form, formIn } from './form.ts';
import { askWith } from './input-required.ts';

/**
 * Lets the agent ask questions with forms. The extension checks each answer before the agent runs: it repeats the
 * question with the errors of each field, or passes the valid values on as data. Clients that do not activate the
 * extension get the question as text and may answer with text.
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
    if (refusal) return askAgain(refusal);
    const answer = await inner(withMessages(turn, messages));
    const isActive = turn.extensions.includes(FORM_INPUT);
    return isActive || !(Symbol.asyncIterator in answer) ? answer : mapUpdates(answer, withoutForm);
  }),
});

/** An answer that does not fit its form. */
interface Refusal {
  readonly form: Form;
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
      const issues = form && check(form, answer);
      if (!form || !issues) return { data: form ? answer.values : {} };
      refusal = { form, question: textOfQuestion(question), issues, values: answer.values };
      return { data: {} };
    });
    return { ...message, parts };
  });
  return { messages: unwrapped, ...(refusal && { refusal }) };
}

function check(form: Form, { formId, values }: { formId: string; values: Json }): Issue[] | undefined {
  if (formId !== form.formId) return [{ path: '', message: 'This answers another form' }];
  const schema = z.fromJSONSchema(form.schema as Parameters<typeof z.fromJSONSchema>[0]);
  const { error } = schema.safeParse(values);
  return error && issuesOf(error);
}

/** The text of the question, without the errors of an earlier answer. */
const textOfQuestion = (question: Message | undefined): string => {
  const [text = ''] = question?.parts.flatMap((part) => ('text' in part ? [part.text] : [])) ?? [];
  return text.split('\n\n')[0]!;
};

async function* askAgain({ form, question, issues, values }: Refusal) {
  const errors = Object.fromEntries(issues.map(({ path, message }) => [path, message]));
  yield askWith(`${question}\n\n${describeIssues(issues)}`, { ...form, initial: values, errors });
}

const withoutForm = (update: TaskUpdate): TaskUpdate => withoutParts(update, FORM_TYPE, FORM_INPUT);
