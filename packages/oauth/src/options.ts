import { CodedError } from '@batonjs/protocol/errors';
import type { TokenStore } from './tokens/token-store.ts';

/** The program as it is registered at one authorization server. */
export interface OAuthClient {
  readonly clientId: string;
  /** Sent in `Authorization: Basic`, or in the form if the server's metadata accepts nothing else. */
  readonly clientSecret?: string;
  /** Signs assertions in place of a secret: `private_key_jwt`. RFC 7523. */
  readonly privateKey?: CryptoKey | { readonly key: CryptoKey; readonly kid: string };
  /** Whether the `fetch` of the options presents a certificate that stands for the client. RFC 8705. */
  readonly certificate?: boolean;
  /** Origins of the agents that may receive its tokens. Default: all that the program connects to with these options. */
  readonly agents?: readonly string[];
  /** The only scopes that cards and challenges may ask for. Default: all that they ask for. */
  readonly scopes?: readonly string[];
  /** Scopes to request in addition to those that an agent asks for, such as `offline_access`. */
  readonly extraScopes?: readonly string[];
  /**
   * The `resource` of every request, which becomes the audience of the tokens; `true`: the origin of the agent, so that
   * an agent cannot use its tokens at other agents. RFC 8707.
   */
  readonly resource?: string | true;
  /**
   * Further parameters of requests for tokens, such as `prompt` or `audience`. No secrets: they are part of the key of a
   * kept token.
   */
  readonly parameters?: Readonly<Record<string, string>>;
}

/**
 * Asks a person in a browser. Calls `begin` with the address to which the authorization server is to redirect, opens the
 * URL that it resolves to, and resolves to the URL that the server redirected to. The redirect address must have neither
 * query nor fragment.
 */
export type Authorize = (begin: (redirectUri: string) => Promise<URL>) => Promise<URL | string>;

/** What a person needs to confirm on another device. RFC 8628 §3.2. */
export interface DeviceCode {
  readonly userCode: string;
  readonly verificationUri: string;
  /** The same with the code in it. */
  readonly verificationUriComplete: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Options of `oauth`. */
export interface OAuthOptions {
  /**
   * The clients by the authorization servers that they are registered at. A key is the issuer, or the token URL of a
   * server without metadata. No secret and no person is sent to any other server, whatever a card says.
   */
  readonly clients: Readonly<Record<string, OAuthClient>>;
  /** Makes the authorization code flow possible, which always uses PKCE. `loopback()` is one for programs of Node.js. */
  readonly authorize?: Authorize | undefined;
  /** Makes the device code flow possible: shows the code. The flow goes on until the code was confirmed or expires. */
  readonly showDeviceCode?: ((code: DeviceCode) => unknown) | undefined;
  /** Ids of skills whose requirements every token meets. Default: a token gets more scopes when the agent asks for them. */
  readonly skills?: readonly string[] | undefined;
  /** Keeps the tokens. Default: in memory. */
  readonly store?: TokenStore | undefined;
  /** Sends the requests to authorization servers. Give one with a certificate for mutual TLS. Redirects are refused. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Milliseconds until an authorization server must have answered one request. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since 1970, for tests. */
  readonly now?: (() => number) | undefined;
}

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
