import type { Exchange } from '../api/wire.ts';

/** How much of a body is kept, in characters. */
const maxBody = 65_536;

/** An exchange while it happens. */
export type Draft<Kept extends Exchange = Exchange> = { -readonly [Name in keyof Kept]: Kept[Name] };

/** What an exchange has when it begins. */
type Begun<Kept extends Exchange> = Omit<
  Draft<Kept>,
  'number' | 'at' | 'responseBody' | 'responseHeaders' | 'isError' | 'isCut'
>;

/** How much is kept. */
export interface WireBounds {
  readonly exchanges: number;
  /** In memory, two for each character: the oldest exchanges make way for the latest one, which is kept in any case. */
  readonly bytes: number;
}

/** The latest requests and their responses. */
export class WireLog<Kept extends Exchange = Exchange> {
  readonly bounds: WireBounds;
  /** When it began: ISO 8601. */
  readonly since = new Date().toISOString();
  readonly #exchanges: Draft<Kept>[] = [];
  /** The characters of those that are kept. */
  readonly #sizes = new Map<number, number>();
  readonly #listeners = new Set<(exchange: Kept) => void>();
  #count = 0;
  #size = 0;

  constructor(bounds: WireBounds = { exchanges: 300, bytes: Number.POSITIVE_INFINITY }) {
    this.bounds = bounds;
  }

  get exchanges(): readonly Kept[] {
    return this.#exchanges as readonly Kept[];
  }

  /** Adds an exchange. Call `changed` after every change of the draft. */
  add(begun: Begun<Kept>): Draft<Kept> {
    this.#count += 1;
    const exchange = {
      number: this.#count,
      at: new Date().toISOString(),
      responseHeaders: {},
      responseBody: '',
      isError: false,
      isCut: false,
      ...begun,
    } as Draft<Kept>;
    if (exchange.requestBody) exchange.requestBody = cut(exchange, exchange.requestBody);
    this.#exchanges.push(exchange);
    this.#sizes.set(exchange.number, 0);
    this.changed(exchange);
    return exchange;
  }

  /** Adds text to the body of the response. */
  receive(exchange: Draft<Kept>, text: string): void {
    if (exchange.responseBody.length >= maxBody) exchange.isCut = true;
    else exchange.responseBody = cut(exchange, exchange.responseBody + text);
    this.changed(exchange);
  }

  /** Sets the body of the request, if it was not known when the exchange began. */
  send(exchange: Draft<Kept>, text: string): void {
    exchange.requestBody = cut(exchange, text);
    this.changed(exchange);
  }

  changed(exchange: Draft<Kept>): void {
    this.#makeRoom(exchange);
    for (const listener of this.#listeners) listener(exchange as Kept);
  }

  /** Calls the function with every exchange that changed, until the returned function is called. */
  listen(listener: (exchange: Kept) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets all exchanges and listeners. */
  clear(): void {
    this.#exchanges.length = 0;
    this.#sizes.clear();
    this.#size = 0;
    this.#listeners.clear();
  }

  #makeRoom(exchange: Exchange): void {
    const before = this.#sizes.get(exchange.number);
    // It made way already, and may go on for long.
    if (before === undefined) return;
    const size = sizeOf(exchange);
    this.#sizes.set(exchange.number, size);
    this.#size += size - before;
    const { exchanges: most, bytes } = this.bounds;
    while (this.#exchanges.length > 1 && (this.#exchanges.length > most || this.#size * 2 > bytes)) {
      const { number } = this.#exchanges.shift()!;
      this.#size -= this.#sizes.get(number) ?? 0;
      this.#sizes.delete(number);
    }
  }
}

const sizeOf = ({ url, shell, requestBody = '', responseBody, requestHeaders, responseHeaders }: Exchange) =>
  url.length +
  shell.length +
  requestBody.length +
  responseBody.length +
  [requestHeaders, responseHeaders]
    .flatMap(Object.entries)
    .reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);

function cut(exchange: Draft, body: string): string {
  if (body.length <= maxBody) return body;
  exchange.isCut = true;
  return body.slice(0, maxBody);
}
