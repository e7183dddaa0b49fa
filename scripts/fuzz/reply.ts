/** A reply as it came. */
export interface RawReply {
  readonly status: number;
  /** Names in lower case; the last of several counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the body came to its end. */
  readonly isWhole: boolean;
}

/** The reply in the bytes so far; undefined until there is a head. */
export function parseReply(bytes: Buffer, method: string, isClosed: boolean): RawReply | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  if (!(status >= 100)) throw new Error(`No status: ${first.slice(0, 200)}`);
  const rest = bytes.subarray(end + 4);
  // Such as 100 Continue.
  if (status < 200) return parseReply(rest, method, isClosed);
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`No header: ${line.slice(0, 200)}`);
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  if (method === 'HEAD' || status === 204 || status === 304)
    return { status, headers, body: '', isWhole: true };
  const { body, isWhole } = bodyIn(rest, headers, isClosed);
  return { status, headers, body: body.toString('utf8'), isWhole };
}

function bodyIn(rest: Buffer, headers: RawReply['headers'], isClosed: boolean) {
  if (headers['transfer-encoding'] === 'chunked') return unchunk(rest);
  const length = headers['content-length'];
  if (length === undefined) return { body: rest, isWhole: isClosed };
  return { body: rest.subarray(0, Number(length)), isWhole: rest.length >= Number(length) };
}

function unchunk(rest: Buffer): { body: Buffer; isWhole: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return { body: Buffer.concat(chunks), isWhole: false };
    const size = Number.parseInt(rest.subarray(at, line).toString('latin1'), 16);
    if (!(size >= 0)) throw new Error('A chunk without a size');
    if (size === 0) return { body: Buffer.concat(chunks), isWhole: true };
    if (rest.length < line + 2 + size + 2) return { body: Buffer.concat(chunks), isWhole: false };
    chunks.push(rest.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
