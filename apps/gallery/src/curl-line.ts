import type { Exhibit } from './exhibit.ts';

/** A first message for an agent: the first example of its card. */
export const exampleOf = ({ server }: Pick<Exhibit, 'server'>): string =>
  server.card.skills.flatMap(({ examples }) => examples ?? [])[0] ?? 'Hello';

/** A line for the shell that sends an agent its first example. */
export function curlLine(exhibit: Pick<Exhibit, 'server' | 'url'>): string {
  const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: exampleOf(exhibit) }] };
  const body = JSON.stringify({ message }).replaceAll("'", "'\\''");
  return `curl -s ${exhibit.url}/message:send -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' -d '${body}'`;
}
