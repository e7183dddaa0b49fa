import type { Telemetry } from './telemetry.ts';

/** A request as it came, with all its secrets. */
export interface WatchedStart {
  readonly method: string;
  /** Below the mount, without query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Where the agent is reached, if the request or the card says it. */
  readonly baseUrl?: string | undefined;
}

/** The body of a request: bytes, or a value that was parsed already. */
export type WatchedBody = { readonly bytes: Uint8Array } | { readonly value: unknown };

/** One request while it is answered. A watcher is called at most once for each, except for `said`. None may throw. */
export interface WatchedRequest {
  /** `operation`: undefined where the request names none. `version`: `Major.Minor`. */
  named(about: {
    readonly operation: string | undefined;
    readonly binding: string;
    readonly version: string;
  }): void;
  /** The caller is known. `scope`: undefined without `authenticate`. */
  calledBy(scope: string | undefined): void;
  sent(body: WatchedBody): void;
  /** The answer begins. `status`: that of HTTP, `OK`, or the reason of the error. */
  answered(status: string, isError: boolean, headers: Readonly<Record<string, string>>): void;
  /** A part of the answer: whole JSON, or whole server-sent events. */
  said(text: string): void;
  ended(): void;
}

/** Called as each request begins. */
export type RequestWatcher = (start: WatchedStart) => WatchedRequest;

/** Those who look at the requests of a server. Without any, nothing is made for a request. */
export class RequestWatch {
  readonly #watchers = new Set<RequestWatcher>();

  /** Shows every request that begins from now on, until the returned function is called. */
  add(watcher: RequestWatcher): () => void {
    const own: RequestWatcher = (start) => watcher(start);
    this.#watchers.add(own);
    return () => void this.#watchers.delete(own);
  }

  get isOn(): boolean {
    return this.#watchers.size > 0;
  }

  /** Shows a request to all watchers. */
  begin(start: WatchedStart): WatchedRequest {
    const all = [...this.#watchers].map((watcher) => watcher(start));
    const each =
      <Given extends readonly unknown[]>(show: (one: WatchedRequest, ...given: Given) => void) =>
      (...given: Given): void => {
        for (const one of all) show(one, ...given);
      };
    let isOver = false;
    return {
      named: each((one, about: Parameters<WatchedRequest['named']>[0]) => one.named(about)),
      calledBy: each((one, scope: string | undefined) => one.calledBy(scope)),
      sent: each((one, body: WatchedBody) => one.sent(body)),
      answered: each((one, ...given: Parameters<WatchedRequest['answered']>) => one.answered(...given)),
      said: each((one, text: string) => one.said(text)),
      // A stream ends with its events, and once more when its reader leaves.
      ended() {
        if (!isOver) for (const one of all) one.ended();
        isOver = true;
      },
    };
  }
}

/** The same caller, which is shown, too. */
export const shownCaller = <Caller extends { readonly scope: string } | undefined>(
  asked: Promise<Caller>,
  seen: WatchedRequest | undefined,
): Promise<Caller> =>
  seen
    ? asked.then((caller) => {
        seen.calledBy(caller?.scope);
        return caller;
      })
    : asked;

/** Registered, because each entry of this package is a file of its own: a variable would exist once per entry. */
const watched = Symbol.for('@batonjs/server/telemetry');

/** Remembers the telemetry of a server or worker for {@link telemetryOf}. */
export const keepWatched = <Process extends object>(
  process: Process,
  telemetry: Telemetry | undefined,
): Process => (telemetry ? Object.defineProperty(process, watched, { value: telemetry }) : process);

/** The telemetry that a server or worker was given; undefined without any. */
export const telemetryOf = (process: object): Telemetry | undefined =>
  (process as { [watched]?: Telemetry })[watched];
