import type { AgentCard, AgentCardSignature } from '@batonjs/protocol';
import { CodedError } from '@batonjs/protocol/errors';
import { base64url, decodeProtectedHeader, errors, flattenedVerify, importJWK, type JWK } from 'jose';
import { type KeySetCaching, publicKeys, type RemoteKeySet, remoteKeySet } from '../keys/key-set.ts';
import { algorithms } from '../keys/token-fault.ts';
import { cardPayload } from './card-payload.ts';

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

/** The keys whose signatures are trusted. Pass the same object to every call: the fetched keys are cached per object. */
export interface CardTrust {
  /** Trusted public keys, each with its `kid`. */
  readonly keys?: readonly JWK[];
  /** The https URLs of trusted key sets. Every key in them is trusted. */
  readonly jwks?: readonly (string | URL)[];
  /** How long fetched key sets are cached. */
  readonly caching?: KeySetCaching;
  /** The `kid`s of keys that are no longer trusted, in `keys` and in the key sets. */
  readonly revoked?: readonly string[];
  /**
   * Whether to accept a signature in the form of the official SDKs that leaves out security members of the card. They
   * are then listed as `unauthenticated`. Default false.
   */
  readonly lenient?: boolean;
  /** The current time in milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

export interface SignatureHeader {
  readonly alg: string;
  readonly kid: string;
  readonly jku: string | undefined;
}

const remotes = new WeakMap<CardTrust, ReadonlyMap<string, RemoteKeySet>>();

/**
 * The trusted keys that may have made a signature. Rejects with `UNTRUSTED_KEY` if there are none, and with
 * `KEYS_UNAVAILABLE` if none were found and a key set could not be fetched.
 */
async function trustedKeys(header: SignatureHeader, trust: CardTrust): Promise<readonly JWK[]> {
  const { kid, alg, jku } = header;
  const isUsable = (key: JWK) => key.kid === kid && mayVerify(key, alg, trust);
  const found = publicKeys(trust.keys ?? []).keys.filter(isUsable);
  let failure: unknown;
  if (found.length === 0) {
    const sets = setsOf(trust);
    const named = jku === undefined ? undefined : sets.get(hrefOf(jku));
    for (const set of named ? [named] : sets.values()) {
      try {
        found.push(...(await keysIn(set, kid)).filter(isUsable));
      } catch (error) {
        failure = error;
      }
    }
  }
  if (found.length > 0) return found;
  if (failure !== undefined)
    throw new CardSignatureError('KEYS_UNAVAILABLE', 'The trusted keys cannot be fetched', failure);
  throw new CardSignatureError('UNTRUSTED_KEY', `The key "${kid}" is not trusted`);
}

/** The keys of a set. Fetches it again if it is stale, or if it lacks the `kid` and the cooldown is over. */
async function keysIn(set: RemoteKeySet, kid: string): Promise<readonly JWK[]> {
  if (!set.fresh) await set.reload();
  const known = set.jwks()?.keys ?? [];
  if (known.some((key) => key.kid === kid) || set.coolingDown) return known;
  await set.reload();
  return set.jwks()?.keys ?? [];
}

function setsOf(trust: CardTrust): ReadonlyMap<string, RemoteKeySet> {
  const known = remotes.get(trust);
  if (known) return known;
  const sets = new Map(
    trust.jwks?.map((url) => [new URL(url).href, remoteKeySet(url, trust.caching)] as const),
  );
  remotes.set(trust, sets);
  return sets;
}

const hrefOf = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

/** Whether a key may verify signatures now. `nbf`, `exp` and `revoked` come from OpenID Federation's historical keys. */
function mayVerify(key: JWK & Record<string, unknown>, alg: string, trust: CardTrust): boolean {
  const now = (trust.now ?? Date.now)() / 1_000;
  const { nbf, exp, revoked, use } = key;
  if (trust.revoked?.includes(key.kid ?? '') || revoked !== undefined) return false;
  if ((typeof nbf === 'number' && nbf > now) || (typeof exp === 'number' && exp <= now)) return false;
  return key.kty !== 'oct' && (use ?? 'sig') === 'sig' && (key.alg ?? alg) === alg;
}

/**
 * Why a card is not trusted: `UNSIGNED`, it has no signature; `UNTRUSTED_KEY`, no trusted key signed it;
 * `INVALID_SIGNATURE`, a signature does not match the card; `KEYS_UNAVAILABLE`, the trusted keys could not be fetched.
 */
export type CardSignatureProblem = 'UNSIGNED' | 'UNTRUSTED_KEY' | 'INVALID_SIGNATURE' | 'KEYS_UNAVAILABLE';

/** The error of `verifyCard`: the card is not trusted. Recognise it with `CardSignatureError.is(error, code?)`. */
export class CardSignatureError extends CodedError<CardSignatureProblem> {
  static override readonly title = 'CardSignatureError';
}
