import type { ServerResponse } from 'node:http';
import { endOfRound } from './end-of-round.ts';
import { endWithServer } from './node-server.ts';

/** Writes a stream, as fast as the client reads it. */
export function pump(body: AsyncIterable<string>, res: ServerResponse): void {
  const texts = body[Symbol.asyncIterator]();
  // The client may have left before there was a stream.
  if (res.destroyed) return void texts.return?.();
  let isBegun = false;
  const fail = () => void res.destroy();
  const next = () => void texts.next().then(write, fail);
  const write = ({ done, value }: IteratorResult<string>) => {
    const isFirst = !isBegun;
    isBegun = true;
    if (res.writableEnded) return;
    try {
      if (done) res.end();
      // If the buffer is full, `drain` continues.
      else if (isFirst ? writeFirst(res, value) : res.write(value)) next();
    } catch {
      fail();
    }
  };
  endWithServer(res);
  res.on('drain', next);
  res.on('close', () => void texts.return?.());
  next();
  // The headers are sent together with the first text, unless there is none yet.
  void endOfRound().then(() => {
    if (!isBegun) res.flushHeaders();
  });
}

/**
 * Sends the headers and the first text in one packet. Two writes to a corked socket instead of one joined text: Node.js
 * would keep the headers as 30 pieces of a string while the stream is open.
 */
function writeFirst(res: ServerResponse, text: string): boolean {
  const { socket } = res;
  socket?.cork();
  res.flushHeaders();
  const canTakeMore = res.write(text);
  socket?.uncork();
  return canTakeMore;
}
