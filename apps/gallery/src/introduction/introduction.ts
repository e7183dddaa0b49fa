import { exampleOf } from '../curl-line.ts';
import type { Gallery } from '../gallery.ts';

/** The widest line in characters: a terminal of this width wraps none. */
const widest = 80;

/** How a terminal shows a text; as it is where no colours are wanted. */
type Paint = (text: string) => string;

const paint =
  (code: number, isColoured: boolean): Paint =>
  (text) =>
    isColoured ? `\u001b[${code}m${text}\u001b[0m` : text;

/** Where everything is, as lines of at most 80 characters: the address of the inspector first. */
export function introduction(
  { localUrl, inspectorUrl, exhibits }: Pick<Gallery, 'localUrl' | 'inspectorUrl' | 'exhibits'>,
  isColoured = false,
): string[] {
  const [name, link] = [paint(1, isColoured), paint(36, isColoured)];
  const row = (label: string, value: string) => `  ${name(label.padEnd(9))} ${value}`;
  const more = (value: string) => `  ${' '.repeat(9)} ${value}`;
  const hasChat = exhibits.some((exhibit) => exhibit.name === 'chat');
  const names = exhibits.map((exhibit) => exhibit.name);
  return [
    '',
    row('Inspector', link(inspectorUrl)),
    ...(hasChat ? [row('Chat', link(`${localUrl}/chat`))] : []),
    row('Card', link(`${localUrl}/.well-known/agent-card.json`)),
    row('Agents', `${link(`${localUrl}/agents/`)} and one of`),
    ...wrapped(names, widest - 12).map(more),
    '',
    '  Try it:',
    ...curlLines(exhibits[0]).map((line) => `  ${line}`),
  ];
}

/** A line of the conversation, no wider than a terminal. */
export const fitted = (line: string): string =>
  line.length > widest - 2 ? `  ${line.slice(0, widest - 3)}…` : `  ${line}`;

/** Words in lines of at most so many characters. */
function wrapped(words: readonly string[], most: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ''}  ${word}`.trimStart();
    if (lines.length > 0 && longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The line of `curl` that sends an agent its first example, over several lines. */
function curlLines(exhibit: Gallery['exhibits'][0]): string[] {
  const text = JSON.stringify(exampleOf(exhibit)).replaceAll("'", "'\\''");
  return [
    `curl -s ${exhibit.url}/message:send \\`,
    `  -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' \\`,
    `  -d '{"message":{"messageId":"m-1","role":"ROLE_USER",`,
    `       "parts":[{"text":${text}}]}}'`,
  ];
}
