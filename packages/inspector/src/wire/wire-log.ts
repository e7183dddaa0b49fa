import type { Exchange } from '../api/wire.ts';

/** How many exchanges are kept per agent. */
const most = 300;
/** How much of a body is kept, in characters. */
const maxBody = 65_536;

/** An exchange while it happens. */
export type Draft = { -readonly [Name in keyof Exchange]: Exchange[Name] };

/** The latest requests to one agent and their responses. */
export class WireLog {
  readonly #exchanges: Draft[] = [];
  readonly #listeners = new Set<(exchange: Exchange) => void>();
  #count = 0;

  get exchanges(): readonly Exchange[] {
    return this.#exchanges;
  }

  /** Adds an exchange. Call `changed` after every change of the draft. */
  add(draft: Omit<Draft, 'number' | 'at' | 'responseBody' | 'responseHeaders' | 'isError' | 'isCut'>): Draft {
    this.#count += 1;
    const exchange: Draft = {
      number: this.#count,
      at: new Date().toISOString(),
      responseHeaders: {},
      responseBody: '',
      isError: false,
      isCut: false,
      ...draft,
    };
    if (exchange.requestBody) exchange.requestBody = cut(exchange, exchange.requestBody);
    this.#exchanges.push(exchange);
    if (this.#exchanges.length > most) this.#exchanges.shift();
    this.changed(exchange);
    return exchange;
  }

  /** Adds text to the body of the response. */
  receive(exchange: Draft, text: string): void {
    if (exchange.responseBody.length >= maxBody) exchange.isCut = true;
    else exchange.responseBody = cut(exchange, exchange.responseBody + text);
    this.changed(exchange);
  }

  changed(exchange: Exchange): void {
    for (const listener of this.#listeners) listener(exchange);
  }

  /** Calls the function with every exchange that changed, until the returned function is called. */
  listen(listener: (exchange: Exchange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function cut(exchange: Draft, body: string): string {
  if (body.length <= maxBody) return body;
  exchange.isCut = true;
  return body.slice(0, maxBody);
}
