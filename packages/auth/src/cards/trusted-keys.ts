import type { JWK } from 'jose';
import { type KeySetCaching, type RemoteKeySet, remoteKeySet } from '../keys/key-set.ts';
import { publicKeys } from '../keys/public-keys.ts';
import { CardSignatureError } from './card-signature-error.ts';

/**
 * The keys whose signatures are trusted. Pass the same object to every call: the fetched keys are cached per object.
 */
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

/** The protected header of a signature. */
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
export async function trustedKeys(header: SignatureHeader, trust: CardTrust): Promise<readonly JWK[]> {
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

/**
 * Whether a key may verify signatures now. `nbf`, `exp` and `revoked` come from OpenID Federation's historical keys.
 */
function mayVerify(key: JWK & Record<string, unknown>, alg: string, trust: CardTrust): boolean {
  const now = (trust.now ?? Date.now)() / 1_000;
  const { nbf, exp, revoked, use } = key;
  if (trust.revoked?.includes(key.kid ?? '') || revoked !== undefined) return false;
  if ((typeof nbf === 'number' && nbf > now) || (typeof exp === 'number' && exp <= now)) return false;
  return key.kty !== 'oct' && (use ?? 'sig') === 'sig' && (key.alg ?? alg) === alg;
}
