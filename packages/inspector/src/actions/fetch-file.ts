import { fetchFile as fetchSafely } from '@batonjs/server/address-policy';
import type { AgentLink } from '../agents/agent-link.ts';

/** The largest file that is fetched for the app, in bytes. */
const maxBytes = 20 * 1024 * 1024;

/** Fetches a file that an agent named by URL: from public addresses, and from the address of the agent itself. */
export async function fetchFile(
  link: AgentLink | undefined,
  url: string,
): Promise<{ readonly mediaType: string; readonly base64: string }> {
  const own = link && URL.parse(link.url);
  const { bytes, mediaType = 'application/octet-stream' } = await fetchSafely(url, {
    maxBytes,
    ...(own && { allow: [`${own.hostname}:${own.port || (own.protocol === 'https:' ? '443' : '80')}`] }),
  });
  return { mediaType, base64: Buffer.from(bytes).toString('base64') };
}
