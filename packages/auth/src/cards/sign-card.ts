import type { AgentCard, AgentCardSignature } from '@batonjs/protocol';
import { FlattenedSign, type JWK } from 'jose';
import { type SigningKey, signingKey } from '../keys/signing-key.ts';
import { cardPayload } from './card-payload.ts';

/** Options of a card signature. */
export interface SignCardOptions {
  /** The URL of the key set with the key. It is only a hint: verifiers trust the URLs that they are configured with. */
  readonly jku?: string | undefined;
  /**
   * Whether to add a second signature for the official SDKs if they sign another text. They leave out empty values,
   * such as an empty list of skills or the scopes of a scheme without any. Default true.
   */
  readonly forSdk?: boolean | undefined;
}

/**
 * Signs a card with a private key (a JWK with `kid`) and keeps the signatures of other keys. The signature covers every member
 * that A2A 1.0 defines, including the security schemes. Rejects with `TypeError` for a key that cannot sign. Spec: §8.4.
 */
export async function signCard(card: AgentCard, key: JWK, options: SignCardOptions = {}): Promise<AgentCard> {
  const signer = signingKey(key);
  const { spec, sdk } = cardPayload(JSON.parse(JSON.stringify(card)));
  const payloads = options.forSdk === false || sdk === spec ? [spec] : [spec, sdk];
  const signatures = await Promise.all(payloads.map((text) => sign(text, signer, options)));
  const others = (card.signatures ?? []).filter((other) => kidOf(other) !== signer.kid);
  return { ...card, signatures: [...others, ...signatures] };
}

async function sign(
  payload: string,
  { kid, alg, key }: SigningKey,
  { jku }: SignCardOptions,
): Promise<AgentCardSignature> {
  const jws = await new FlattenedSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg, kid, typ: 'JOSE', ...(jku && { jku }) })
    .sign(await key);
  return { protected: jws.protected ?? '', signature: jws.signature };
}

function kidOf({ protected: header }: AgentCardSignature): unknown {
  try {
    return JSON.parse(atob(header.replaceAll('-', '+').replaceAll('_', '/'))).kid;
  } catch {
    return undefined;
  }
}
