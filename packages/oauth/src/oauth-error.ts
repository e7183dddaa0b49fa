import { CodedError } from '@batonjs/protocol/errors';

/** Why there is no token for an agent. */
export type OAuthErrorCode =
  /** The card asks for tokens of an authorization server that is not in `clients`, or not for this agent. */
  | 'NO_CLIENT'
  /** The card offers no flow that the options make possible. */
  | 'NO_FLOW'
  /** The card or a challenge asks for a scope that the client does not allow. */
  | 'SCOPE_NOT_ALLOWED'
  /** The agent's address has an origin that `connect` was not given: neither as the agent nor in `trustedOrigins`. */
  | 'NOT_TRUSTED'
  /** An address is neither `https` nor on this machine. */
  | 'INSECURE_URL'
  /** The authorization server's metadata cannot be used: it is broken, incomplete or of another issuer. */
  | 'METADATA'
  /** The authorization server or the person refused; `reason` is the server's own code. */
  | 'REFUSED'
  /** The authorization server answered something that is no answer of OAuth. */
  | 'INVALID_ANSWER'
  /** The authorization server cannot be reached, or did not answer in time. */
  | 'NETWORK';

/**
 * A failure to get a token. A call of the client rejects with a `ClientError` of the code `CREDENTIALS` whose `cause` is
 * this error, or what `authorize`, `showDeviceCode` or the store of the options failed with. It has no `cause` itself:
 * answers of authorization servers contain secrets.
 */
export class OAuthError extends CodedError<OAuthErrorCode> {
  static override readonly title = 'OAuthError';
  /** The `error` of the authorization server, such as `invalid_client` or `access_denied`. RFC 6749 §5.2. */
  readonly reason: string | undefined;

  constructor(code: OAuthErrorCode, message: string, reason?: string) {
    super(code, message);
    this.reason = reason;
  }
}
