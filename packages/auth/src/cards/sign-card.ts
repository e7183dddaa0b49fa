import type { AgentCard, AgentCardSignature } from '@batonjs/protocol';
import { FlattenedSign, type JWK } from 'jose';
import { type SigningKey, signingKey } from '../keys/signing-key.ts';
import { cardPayload } from './card-payload.ts';

/** What the signature says about itself. */
export interface SignCardOptions {
  /** Address of the key set that the key is in. A hint: who verifies trusts only addresses of its own. */
  readonly jku?: string;
  /**
   * Whether a second signature is made where the official SDKs would sign another text: they leave out whatever is empty,
   * such as a list of skills, or the scopes of a scheme that has none. Default true.
   */
  readonly forSdk?: boolean;
}

/**
 * The card with a signature of a private key (a JWK with `kid`), the signatures of other keys kept. Covers every member
 * that A2A 1.0 knows, the security schemes included. Spec: §8.4.
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
