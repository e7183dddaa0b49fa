import { CardSignatureError, type CardTrust, verifyCard } from '@batonjs/auth';
import { skillSchemas } from '@batonjs/extensions/internals';
import { AgentCard } from '@batonjs/protocol';
import type { CardReport, InterfaceChoice, SignatureReport } from '../api/agent.ts';
import type { AgentLink } from './inspected.ts';

/** Reads the card again and checks it: its schema, its signatures, its interfaces. */
export async function reportCard(link: AgentLink, trust: CardTrust | undefined): Promise<CardReport> {
  const client = await link.client();
  const card = await client.readCard();
  const raw = link.raw ?? card;
  const { error } = AgentCard.safeParse(card);
  const issues = error?.issues.map(({ path, message }) => ({ path: path.join('.'), message })) ?? [];
  const used = client.interface;
  return {
    card,
    raw,
    issues,
    signature: await reportSignature(raw, trust),
    interfaces: card.supportedInterfaces.map((each) => ({
      ...each,
      isUsable: usable.has(`${each.protocolBinding} ${each.protocolVersion}`),
      isChosen: each.url === used.url && sameInterface(each, used),
    })),
    skillSchemas: Object.fromEntries([...skillSchemas(card)].map(([id, { input }]) => [id, input])),
  };
}

const usable: ReadonlySet<string> = new Set([
  ...'JSONRPC 1.0, HTTP+JSON 1.0, GRPC 1.0, JSONRPC 0.3, HTTP+JSON 0.3'.split(', '),
  ...'JSONRPC 0.3.0, HTTP+JSON 0.3.0'.split(', '),
]);

type Version = Pick<InterfaceChoice, 'protocolBinding' | 'protocolVersion'>;

const sameInterface = (one: Version, other: Version): boolean =>
  one.protocolBinding === other.protocolBinding && one.protocolVersion === other.protocolVersion;

async function reportSignature(raw: unknown, trust: CardTrust | undefined): Promise<SignatureReport> {
  const { signatures } = Object(raw) as { signatures?: unknown };
  if (!Array.isArray(signatures) || signatures.length === 0) return { state: 'absent' };
  if (!trust) return { state: 'unverifiable', why: 'The inspector was given no keys that it trusts' };
  try {
    const { kid, unauthenticated } = await verifyCard(raw as AgentCard, trust);
    return { state: 'verified', kid, unauthenticated };
  } catch (error) {
    if (!CardSignatureError.is(error)) throw error;
    const isUnknown = error.code === 'UNTRUSTED_KEY' || error.code === 'KEYS_UNAVAILABLE';
    return { state: isUnknown ? 'unverifiable' : 'invalid', why: error.message };
  }
}
