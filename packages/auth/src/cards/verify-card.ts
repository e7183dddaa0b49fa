import type { AgentCard, AgentCardSignature } from '@batonjs/protocol';
import { base64url, decodeProtectedHeader, errors, flattenedVerify, importJWK, type JWK } from 'jose';
import { algorithms } from '../keys/algorithms.ts';
import { cardPayload } from './card-payload.ts';
import { CardSignatureError } from './card-signature-error.ts';
import { type CardTrust, trustedKeys } from './trusted-keys.ts';

/** What is known of a card whose signature is genuine. */
export interface VerifiedCard {
  readonly card: AgentCard;
  /** Whose signature it is. */
  readonly kid: string;
  /** Paths of what the signature does not cover, because A2A 1.0 does not know it: anybody may have written that. */
  readonly unauthenticated: readonly string[];
}

const mostSignatures = 16;

/**
 * Checks that one of a card's signatures is by a trusted key and covers what the card says; of further ones nothing is
 * said. Tries the specification's canonical form, then that of the official SDKs. A `jku` in the card selects among the
 * trusted addresses and adds none. Rejects with `CardSignatureError`. Spec: §8.4.3.
 */
export async function verifyCard(card: AgentCard, trust: CardTrust): Promise<VerifiedCard> {
  const signatures = (Array.isArray(card.signatures) ? card.signatures : []).slice(0, mostSignatures);
  if (signatures.length === 0) throw new CardSignatureError('UNSIGNED', 'The card is not signed');
  const forms = formsOf(card, trust);
  let problem: CardSignatureError | undefined;
  for (const signature of signatures) {
    try {
      const header = headerOf(signature);
      for (const key of await trustedKeys(header, trust))
        for (const { payload, unauthenticated } of forms)
          if (await isBy(key, header.alg, payload, signature))
            return { card, kid: header.kid, unauthenticated };
      throw new CardSignatureError('INVALID_SIGNATURE', `The signature by "${header.kid}" is not genuine`);
    } catch (error) {
      if (!(error instanceof CardSignatureError)) throw error;
      // What is wrong with the first one that could have counted says most.
      if (!problem || problem.code === 'UNTRUSTED_KEY') problem = error;
    }
  }
  throw problem;
}

/** What may have been signed, and what that leaves out. */
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

/** The protected header, if it says what it must; what is not protected is not looked at. */
function headerOf({ protected: encoded, signature }: AgentCardSignature) {
  const invalid = (what: string) => new CardSignatureError('INVALID_SIGNATURE', `A signature ${what}`);
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
    // A key of another kind than the algorithm wants is a signature that does not fit.
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return false;
    throw error;
  }
}
