import type { ServerResponse } from 'node:http';
import { endOfTurn } from './end-of-turn.ts';

/** Writes a stream, as fast as the client reads it. */
export function pump(body: AsyncIterable<string>, res: ServerResponse): void {
  const texts = body[Symbol.asyncIterator]();
  // The client may have left before there was a stream.
  if (res.destroyed) return void texts.return?.();
  let isBegun = false;
  const fail = () => void res.destroy();
  const next = () => void texts.next().then(write, fail);
  const write = ({ done, value }: IteratorResult<string>) => {
    isBegun = true;
    try {
      if (done) res.end();
      // If the buffer is full, `drain` continues.
      else if (res.write(value)) next();
    } catch {
      fail();
    }
  };
  res.on('drain', next);
  res.on('close', () => void texts.return?.());
  next();
  // The headers are sent together with the first text, unless there is none yet.
  void endOfTurn().then(() => {
    if (!isBegun) res.flushHeaders();
  });
}
