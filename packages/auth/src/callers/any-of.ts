import { A2AError } from '@batonjs/protocol/errors';
import type { Authenticator, CredentialedRequest } from './authenticator.ts';
import { mergeSchemes } from './merge-schemes.ts';

/**
 * Accepts callers that satisfy one of several authenticators; the first one that recognises the caller decides its
 * identity. If all refuse, the error is the first `PERMISSION_DENIED`, else the first one that is not `UNAUTHENTICATED`
 * (such as `UNAVAILABLE`), else `UNAUTHENTICATED`.
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
      const refusal =
        refusals.find((error) => A2AError.is(error, 'PERMISSION_DENIED')) ??
        refusals.find((error) => !A2AError.is(error, 'UNAUTHENTICATED'));
      if (refusal !== undefined) throw refusal;
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
