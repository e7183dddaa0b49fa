import { FORM_INPUT, FORM_TYPE } from '@batonjs/protocol/forms';
import {
  type Agent,
  type AgentServer,
  completed,
  data,
  inputRequired,
  type Turn,
  text,
} from '../../src/index.ts';
import { hour } from './serve-callbacks.ts';

export const question = `Pay <b>"Tom & Jerry"</b>?`;

/** The schema of a form with a field of each kind. */
export const formSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['approved', 'cents'],
  properties: {
    approved: { type: 'boolean', title: 'Approve "it"?' },
    cents: { type: 'integer', minimum: 1, description: '<i>whole</i>' },
    currency: { enum: ['EUR', 'USD'] },
    note: { type: 'string', maxLength: 1_000 },
    ['<x>']: { type: 'string' },
    more: { type: 'object' },
  },
} as const;

const formPart = data(
  { formId: 'f-1', title: 'Payment', schema: formSchema, initial: { cents: 5, currency: 'USD' } },
  { mediaType: FORM_TYPE },
);

/** The question with its form. Marked as the agent's own, as the extension does. */
const formQuestion = () => {
  const update = inputRequired([text(question), formPart]);
  if ('status' in update && update.status.message)
    update.status.message.metadata = { [FORM_INPUT]: { isOwn: true } };
  return update;
};

interface Asking {
  readonly form?: boolean;
  readonly answeredBy?: readonly string[];
  readonly expiresMs?: number;
  /** Called before the question is asked, with the links. */
  readonly before?: (links: readonly string[], turn: Turn) => unknown;
}

/** An agent that makes a link for each person, asks, and ends with the answer. */
export function askingAgent({ form = false, answeredBy = ['Ana'], expiresMs = hour, before }: Asking = {}) {
  const seen: { text: string; values: unknown; caller: unknown; extensions: readonly string[] }[] = [];
  const links: string[] = [];
  const asked = Promise.withResolvers<readonly string[]>();
  const agent: Agent = async function* (turn) {
    const { text, values, caller, extensions, callback, messages } = turn;
    seen.push({ text, values, caller, extensions });
    if (messages.filter(({ role }) => role === 'ROLE_USER').length > 1) return yield completed('Noted');
    for (const name of answeredBy) links.push((await callback({ answeredBy: name, expiresMs })).url);
    await before?.(links, turn);
    asked.resolve(links);
    yield form ? formQuestion() : inputRequired(question);
  };
  return { agent, seen, links: asked.promise };
}

/** What a browser gets. */
export interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

const toPage = async (response: Response): Promise<Page> => ({
  status: response.status,
  text: await response.text(),
  headers: response.headers,
});

type Fetch = Pick<AgentServer, 'fetch'>;

/** Opens a link as a browser does. */
export const look = async ({ fetch }: Fetch, url: string, method = 'GET'): Promise<Page> =>
  toPage(await fetch(new Request(url, { method, headers: { accept: 'text/html,*/*' } })));

/** Posts the form of a page as a browser does, with these fields besides the hidden one. */
export const submit = async (
  { fetch }: Fetch,
  url: string,
  { text: page }: Pick<Page, 'text'>,
  fields: Readonly<Record<string, string>>,
): Promise<Page> => {
  const hidden = /name="question" value="([^"]*)"/.exec(page)?.[1] ?? '';
  const body = new URLSearchParams({ question: hidden, ...fields }).toString();
  const headers = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
  return toPage(await fetch(new Request(url, { method: 'POST', headers, body })));
};
