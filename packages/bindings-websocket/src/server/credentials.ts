import type { CallTarget } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { encodeReauthentication } from '../wire/answer-frame.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** How long a connection whose credentials are refused stays open for others, in milliseconds. */
export const graceMs = 5_000;

/** The headers of one connection, and whether its caller is still welcome. */
export class Credentials {
  /** Those of the upgrade, with the credentials that replaced its own. */
  headers: Headers;
  readonly #target: CallTarget;
  readonly #scope: string | undefined;
  readonly #connection: { send(frame: string): void; close(): void };
  #closing: NodeJS.Timeout | undefined;
  /** The connection has ended. */
  #isOver = false;

  constructor(
    { target, headers, scope }: { target: CallTarget; headers: Headers; scope: string | undefined },
    connection: { send(frame: string): void; close(): void },
  ) {
    this.#target = target;
    this.headers = headers;
    this.#scope = scope;
    this.#connection = connection;
  }

  /** Announces the end of the connection if its caller is refused now. An `authenticate` that fails changes nothing. */
  async recheck(): Promise<void> {
    if (this.#closing) return;
    const refusal = await this.#check(this.headers).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!isRefusal(refusal) || this.#closing || this.#isOver) return;
    this.#connection.send(encodeReauthentication(refusal.message, graceMs));
    this.#closing = setTimeout(() => this.#connection.close(), graceMs).unref();
  }

  /**
   * Replaces the credentials, and calls off the announced end. Rejects with the error of `authenticate`, and with
   * `PERMISSION_DENIED` for those of another caller: streams of this one are open.
   */
  async replace(authorization: string): Promise<void> {
    const headers = { ...this.headers, authorization };
    await this.#check(headers);
    this.headers = headers;
    this.#callOff();
  }

  /** Forgets the connection, which has ended. */
  close(): void {
    this.#isOver = true;
    this.#callOff();
  }

  #callOff(): void {
    clearTimeout(this.#closing);
    this.#closing = undefined;
  }

  async #check(headers: Headers): Promise<void> {
    const scope = await this.#target.checkCaller({ path: '/', headers });
    if (scope !== this.#scope)
      throw new A2AError('PERMISSION_DENIED', 'These are the credentials of another caller: connect again');
  }
}

const isRefusal = (error: unknown): error is A2AError =>
  A2AError.is(error, 'UNAUTHENTICATED') || A2AError.is(error, 'PERMISSION_DENIED');
