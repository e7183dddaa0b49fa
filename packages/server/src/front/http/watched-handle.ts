import type { HttpReply } from '@batonjs/bindings';
import type { RequestWatch, WatchedRequest } from '../../base/hooks/request-watch.ts';
import type { Handle, HttpExchange } from './request-body.ts';

type Answer = (exchange: HttpExchange, seen?: WatchedRequest) => Promise<HttpReply>;

/** `answer`, whose requests are shown to those who watch. */
export const withWatch =
  (answer: Answer, watch: RequestWatch): Handle =>
  (exchange) =>
    watch.isOn ? watchedReply(exchange, answer, watch) : answer(exchange);

async function watchedReply(exchange: HttpExchange, answer: Answer, watch: RequestWatch): Promise<HttpReply> {
  const seen = watch.begin(exchange);
  const reply = await answer(
    {
      ...exchange,
      async readBody(limit, ask) {
        const body = await exchange.readBody(limit, ask);
        if (body && ('bytes' in body || 'value' in body)) seen.sent(body);
        return body;
      },
    },
    seen,
  );
  const { status, headers, body } = reply;
  seen.answered(String(status), status >= 400, headers);
  if (typeof body === 'object') return { ...reply, body: new WatchedTexts(body, seen) };
  if (body !== undefined) seen.said(body);
  seen.ended();
  return reply;
}

/** The texts of a stream, which are shown as its reader takes them. */
class WatchedTexts implements AsyncIterableIterator<string, undefined> {
  readonly #texts: AsyncIterator<string>;
  readonly #seen: WatchedRequest;

  constructor(texts: AsyncIterable<string>, seen: WatchedRequest) {
    this.#texts = texts[Symbol.asyncIterator]();
    this.#seen = seen;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    try {
      const { done, value } = await this.#texts.next();
      if (done) return this.#end();
      this.#seen.said(value);
      return { done: false, value };
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    await this.#texts.return?.();
    return this.#end();
  }

  #end(): IteratorResult<string, undefined> {
    this.#seen.ended();
    return { done: true, value: undefined };
  }
}
