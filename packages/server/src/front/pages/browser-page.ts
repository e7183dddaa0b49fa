import type { HttpReply } from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { AGENT_CARD_PATH } from '@batonjs/protocol/headers';
import { credentialsOf } from './credentials-of-card.ts';
import { escaped, layout, pageReply } from './page.ts';

/** A page that describes the agent at this address, and how to call it. Nothing on it runs or is loaded. */
export function browserPage(card: AgentCard, method: string): HttpReply {
  const { body, headers, ...reply } = pageReply(pageOf(card));
  return { ...reply, headers: { ...headers, vary: 'Accept' }, ...(method === 'GET' && { body }) };
}

/** How many characters of each part of a card are shown, and how many skills. */
const most = { line: 200, text: 2_000, card: 20_000, skills: 20 };

function pageOf(card: AgentCard): string {
  const reached = Object.keys(bodies)
    .flatMap((binding) =>
      card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === binding),
    )
    .find(({ url }) => /^https?:/i.test(url));
  const name = escaped(card.name, most.line);
  const skills = card.skills
    .slice(0, most.skills)
    .map(
      (skill) => `<li>${escaped(skill.name, most.line)}: ${escaped(skill.description ?? '', most.text)}</li>`,
    );
  return layout(
    card.name,
    `<h1>${name}</h1>
<p>${escaped(card.description, most.text)}</p>
${skills.length > 0 ? `<ul>${skills.join('')}</ul>\n` : ''}<p>This is the address of an A2A agent. Programs send messages to it; this page is for people.</p>
${reached ? waysIn(card, reached) : ''}<h2>Its card</h2>
<pre>${escaped(JSON.stringify(card, undefined, 2), most.card)}</pre>`,
  );
}

function waysIn(card: AgentCard, { url, protocolBinding, tenant }: AgentInterface): string {
  const address = url.replaceAll("'", '%27').replace(/\/$/, '');
  const { sentence, headers } = credentialsOf(card);
  const needs = sentence && `<p>${escaped(sentence, most.text)}</p>\n`;
  const send = bodies[protocolBinding]?.(tenant);
  const optionsOf = (option: string) => headers.map((header) => ` ${option} '${header}'`).join('');
  return `<h2>Send it a message</h2>
${needs}<pre>${escaped(
    `curl -s '${address}${send?.path ?? ''}' -H 'A2A-Version: 1.0' -H 'Content-Type: application/json'${optionsOf('-H')} \\
  -d '${send?.body ?? ''}'`,
    most.text,
  )}</pre>
<h2>Watch its tasks</h2>
<p>The inspector shows tasks as they change, and sends messages from a browser:</p>
<pre>${escaped(`npx @batonjs/inspector '${address}' --allow send${optionsOf('--header')}`, most.text)}</pre>
<p><a href="${escaped(address + AGENT_CARD_PATH, most.text)}">The card as JSON</a></p>
`;
}

const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };

/** The send of a message over the bindings that `curl` speaks. */
const bodies: Readonly<
  Record<string, (tenant?: string) => { readonly path: string; readonly body: string }>
> = {
  'HTTP+JSON': (tenant) => ({
    path: `${tenant ? `/${encodeURIComponent(tenant)}` : ''}/message:send`,
    body: JSON.stringify({ message }),
  }),
  JSONRPC: (tenant) => ({
    path: '',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message, ...(tenant && { tenant }) },
    }),
  }),
};
