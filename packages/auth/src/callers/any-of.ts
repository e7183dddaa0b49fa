import { A2AError } from '@batonjs/protocol/errors';
import type { Authenticator, CredentialedRequest } from './authenticator.ts';
import { mergeSchemes } from './merge-schemes.ts';

/**
 * Lets in whoever satisfies one of several authenticators; the first that knows the caller decides who it is. If none
 * does, a caller who is known but may not is told so first, then what could not be found out, then wrong credentials.
 */
export function anyOf(first: Authenticator, ...others: readonly Authenticator[]): Authenticator {
  const all = [first, ...others];
  return Object.assign(
    async (request: CredentialedRequest) => {
      const refusals: unknown[] = [];
      for (const authenticate of all) {
        try {
          const caller = await authenticate(request);
          if (caller) return caller;
        } catch (error) {
          refusals.push(error);
        }
      }
      const weightiest = refusals.find((error) => is(error, 'PERMISSION_DENIED')) ?? refusals.find(isOther);
      if (weightiest !== undefined) throw weightiest;
      const [wrong] = refusals;
      if (wrong) throw new A2AError('UNAUTHENTICATED', (wrong as A2AError).message);
      return undefined;
    },
    {
      securitySchemes: mergeSchemes(all),
      securityRequirements: all.flatMap(({ securityRequirements }) => securityRequirements),
    },
  );
}

const is = (error: unknown, reason: string) => A2AError.is(error) && error.reason === reason;
const isOther = (error: unknown) => !is(error, 'UNAUTHENTICATED');
