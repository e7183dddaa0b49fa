import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentCard } from '@batonjs/protocol';
import { CliError, usage } from '../errors/cli-error.ts';
import type { OpenContext } from './open-agent.ts';

/** `verified`, `unverifiable` or `absent`. An absent signature is no failure. */
export async function signatureOf(
  card: AgentCard,
  jwks: string | undefined,
  { io }: Pick<OpenContext, 'io'>,
): Promise<string> {
  if (!card.signatures?.length) return 'absent';
  if (jwks === undefined) return 'unverifiable (no keys: give --jwks)';
  const { CardSignatureError, verifyCard } = await import('@batonjs/auth');
  const isUrl = /^https:\/\//i.test(jwks);
  try {
    const trust = isUrl
      ? { jwks: [jwks] }
      : { keys: JSON.parse(readFileSync(resolve(io.cwd, jwks), 'utf8')).keys };
    const { kid } = await verifyCard(card, trust);
    return `verified (${kid})`;
  } catch (error) {
    if (CardSignatureError.is(error, 'INVALID_SIGNATURE'))
      throw new CliError('A2ACLI_ERR_CARD_INVALID', error.message);
    if (CardSignatureError.is(error)) return `unverifiable (${error.message})`;
    throw usage(`The keys in ${jwks} cannot be read`);
  }
}
