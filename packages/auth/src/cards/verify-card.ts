import type { AgentCard, AgentCardSignature } from '@batonjs/protocol';
import { base64url, decodeProtectedHeader, errors, flattenedVerify, importJWK, type JWK } from 'jose';
import { algorithms } from '../keys/algorithms.ts';
import { cardPayload } from './card-payload.ts';
import { CardSignatureError } from './card-signature-error.ts';
import { type CardTrust, trustedKeys } from './trusted-keys.ts';

/** A card with a valid signature. */
export interface VerifiedCard {
  readonly card: AgentCard;
  /** The key that signed it. */
  readonly kid: string;
  /** Paths of members that the signature does not cover. Anyone may have added them. */
  readonly unauthenticated: readonly string[];
}

const mostSignatures = 16;

/**
 * Checks that a trusted key made one of the card's signatures; it does not check the remaining ones. It tries the
 * specification's canonical form, then that of the official SDKs. A `jku` in the card selects one of the trusted URLs
 * and never adds one. Reads at most 16 signatures. Rejects with `CardSignatureError`. Spec: §8.4.3.
 */
export async function verifyCard(card: AgentCard, trust: CardTrust): Promise<VerifiedCard> {
  const signatures = (Array.isArray(card.signatures) ? card.signatures : []).slice(0, mostSignatures);
  if (signatures.length === 0) throw new CardSignatureError('UNSIGNED', 'The card is not signed');
  const forms = formsOf(card, trust);
  let problem: CardSignatureError | undefined;
  for (const signature of signatures) {
    try {
      const header = headerOf(signature);
      const form = await signedForm(forms, header, signature, trust);
      if (form) return { card, kid: header.kid, unauthenticated: form.unauthenticated };
      throw new CardSignatureError('INVALID_SIGNATURE', `The signature by "${header.kid}" is not genuine`);
    } catch (error) {
      if (!CardSignatureError.is(error)) throw error;
      // Reports the first signature by a trusted key, if there is one.
      if (!problem || CardSignatureError.is(problem, 'UNTRUSTED_KEY')) problem = error;
    }
  }
  throw problem;
}

/** The text that a trusted key signed; undefined if none did. */
async function signedForm(
  forms: ReturnType<typeof formsOf>,
  header: ReturnType<typeof headerOf>,
  signature: AgentCardSignature,
  trust: CardTrust,
) {
  for (const key of await trustedKeys(header, trust))
    for (const form of forms) if (await isBy(key, header.alg, form.payload, signature)) return form;
  return undefined;
}

/** The texts that may have been signed, each with the members that it leaves out. */
function formsOf(card: AgentCard, { lenient = false }: CardTrust) {
  try {
    const { spec, sdk, unknown, missingInSdk } = cardPayload(card);
    const forms = [{ payload: base64url.encode(spec), unauthenticated: unknown }];
    if (sdk !== spec && (lenient || missingInSdk.length === 0))
      forms.push({ payload: base64url.encode(sdk), unauthenticated: [...unknown, ...missingInSdk] });
    return forms;
  } catch (cause) {
    throw new CardSignatureError('INVALID_SIGNATURE', 'The card cannot be made canonical', cause);
  }
}

/** The protected header. Throws `INVALID_SIGNATURE` if it is incomplete. The unprotected header is ignored. */
function headerOf({ protected: encoded, signature }: AgentCardSignature) {
  const invalid = (problem: string) => new CardSignatureError('INVALID_SIGNATURE', `A signature ${problem}`);
  if (typeof encoded !== 'string' || typeof signature !== 'string') throw invalid('is incomplete');
  let header: Partial<Record<'alg' | 'kid' | 'jku' | 'crit' | 'b64', unknown>>;
  try {
    header = decodeProtectedHeader({ protected: encoded });
  } catch {
    throw invalid('has no readable header');
  }
  const { alg, kid, jku, crit, b64 } = header;
  if (typeof alg !== 'string' || !algorithms.includes(alg))
    throw invalid(`must not use the algorithm ${alg}`);
  if (typeof kid !== 'string' || kid === '') throw invalid('does not name its key');
  if (crit !== undefined || b64 !== undefined) throw invalid('asks for more than the protocol knows');
  return { alg, kid, jku: typeof jku === 'string' ? jku : undefined };
}

async function isBy(
  jwk: JWK,
  alg: string,
  payload: string,
  { protected: header, signature }: AgentCardSignature,
): Promise<boolean> {
  try {
    const key = await importJWK(jwk, alg);
    await flattenedVerify({ protected: header, signature, payload }, key, { algorithms: [alg] });
    return true;
  } catch (error) {
    // A key that does not fit the algorithm means that the signature is not by this key.
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return false;
    throw error;
  }
}
