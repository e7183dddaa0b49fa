import type { HttpReply } from '@batonjs/bindings';
import type { AgentCard, AgentInterface, SecuritySchemeKind } from '@batonjs/protocol';
import { AGENT_CARD_PATH } from '@batonjs/protocol/headers';

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

/** A page for a person on which nothing runs and nothing is loaded. `form`: whether it may post to its own address. */
export const pageReply = (
  body: string,
  { status = 200, form = false }: { readonly status?: number; readonly form?: boolean } = {},
): HttpReply => ({
  status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action ${form ? "'self'" : "'none'"}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  },
  body,
});

const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text that is no markup, of at most so many characters. */
export function escaped(text: string, length: number): string {
  const shown = text.length > length ? `${text.slice(0, length)} …` : text;
  return shown.replaceAll(/[&<>"']/g, (mark) => marks[mark] ?? '');
}

/** A page with one style, in the light and in the dark. `title` is text, `body` is markup. */
export const layout = (title: string, body: string, lang = 'en'): string => `<!doctype html>
<html lang="${escaped(lang, 300)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escaped(title, 300)}</title>
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
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}h1,p,label,legend{unicode-bidi:plaintext;text-align:start}p{margin:0 0 1rem;overflow-wrap:anywhere}.question{white-space:pre-wrap;font-size:1.0625rem}
.from,.until,.hint,.optional{color:var(--soft);font-size:.875rem}.from{margin-bottom:.25rem}.until{margin:1.25rem 0 0}.hint{margin:0 0 .25rem}
form{display:grid;gap:.375rem}label,legend{font-weight:600;padding:0}.option{display:flex;gap:.5rem;align-items:center;font-weight:400;padding:.375rem 0}.optional{font-weight:400}
fieldset{border:0;padding:0;margin:0 0 .75rem}input:not([type=radio],[type=checkbox]),textarea{width:100%;font:inherit;color:inherit;background:transparent;padding:.5rem .625rem;border:1px solid var(--field);border-radius:8px;margin-bottom:.75rem}
[type=radio],[type=checkbox]{width:1.125rem;height:1.125rem;margin:0;accent-color:var(--main)}.mono{font-family:ui-monospace,monospace;font-size:.875rem}main [aria-invalid]{border-color:var(--bad)}
button{justify-self:start;font:inherit;font-weight:600;color:var(--on);background:var(--main);border:0;border-radius:8px;padding:.625rem 1.125rem;cursor:pointer}
:focus-visible{outline:2px solid var(--main);outline-offset:2px}.error{color:var(--bad);font-size:.9375rem;margin:0 0 .25rem}
a{color:var(--main)}img{max-width:100%}h2{font-size:1.125rem;margin:1.5rem 0 .5rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;user-select:all;font:.875rem/1.5 ui-monospace,monospace;padding:.75rem 1rem;border:1px solid var(--line);border-radius:8px}`;

/** What a person who calls an agent by hand reads of its credentials. */
export interface CredentialsOfCard {
  /** Empty where the card names no credentials. */
  readonly sentence: string;
  /** Headers with a word in capitals where the credential belongs. None has a character that a shell reads in quotes. */
  readonly headers: readonly string[];
}

/** The credentials of the first way in that a card names: a client needs all schemes of one way. Spec: §4.5. */
export function credentialsOf({
  securityRequirements = [],
  securitySchemes = {},
}: AgentCard): CredentialsOfCard {
  const named = Object.keys(securitySchemes);
  if (named.length === 0) return { sentence: '', headers: [] };
  const ways = securityRequirements.map(({ schemes = {} }) => Object.keys(schemes));
  const [first] = ways;
  if (first === undefined || ways.some((way) => way.length === 0))
    return { sentence: `It may ask for credentials: ${named.join(', ')}.`, headers: [] };
  const headers = first.flatMap((name) => headerOf(securitySchemes[name]) ?? []);
  const each = ways.map((way) => way.join(' and ')).join(', or ');
  const place = headers.length > 0 ? '; put yours where a word stands in capitals' : '';
  return { sentence: `It asks for credentials: ${each}${place}.`, headers };
}

function headerOf(scheme: Partial<SecuritySchemeKind> = {}): string | undefined {
  if (scheme.apiKeySecurityScheme?.location === 'header') {
    const { name } = scheme.apiKeySecurityScheme;
    return /^[\w-]+$/.test(name) ? `${name}: YOUR_KEY` : undefined;
  }
  const kind = scheme.httpAuthSecurityScheme?.scheme.toLowerCase();
  if (kind === 'basic') return 'Authorization: Basic YOUR_USER_AND_PASSWORD_IN_BASE64';
  const isToken = kind === 'bearer' || scheme.oauth2SecurityScheme || scheme.openIdConnectSecurityScheme;
  return isToken ? 'Authorization: Bearer YOUR_TOKEN' : undefined;
}
