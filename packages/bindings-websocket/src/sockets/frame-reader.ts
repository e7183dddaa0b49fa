/** One frame of a client that has arrived. Spec: RFC 6455 §5.2. */
export interface Frame {
  /** Its bytes, with those of its header. */
  readonly bytes: number;
  /** Whether it is a ping, a pong or a close, which may come between the frames of a message. */
  readonly isControl: boolean;
  /** Whether its message ends with it. */
  readonly isFinal: boolean;
  /** Whether it begins a message that is deflated. Spec: RFC 7692 §6. */
  readonly isDeflated: boolean;
}

/** Finds the frames in the bytes that a client sends. It keeps only the bytes of one header. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  #header: number[] = [];
  /** The bytes of the payload that have not come; undefined while the header has not. */
  #left: number | undefined;
  #payload = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left === undefined) this.#addToHeader(chunk[at++]!);
      else {
        const bytes = Math.min(this.#left, chunk.length - at);
        this.#left -= bytes;
        at += bytes;
      }
      if (this.#left === 0) this.#end();
    }
  }

  #addToHeader(byte: number): void {
    this.#header.push(byte);
    const [, second = 0] = this.#header;
    const short = second & 0x7f;
    const size = short === 127 ? 8 : short === 126 ? 2 : 0;
    if (this.#header.length < 2 + size + (second & 0x80 ? 4 : 0)) return;
    const long = this.#header.slice(2, 2 + size);
    this.#payload = size === 0 ? short : long.reduce((sum, part) => sum * 256 + part, 0);
    this.#left = this.#payload;
  }

  #end(): void {
    const [first = 0] = this.#header;
    const bytes = this.#header.length + this.#payload;
    this.#header = [];
    this.#left = undefined;
    this.#onFrame({
      bytes,
      isControl: (first & 0x08) !== 0,
      isFinal: (first & 0x80) !== 0,
      isDeflated: (first & 0x40) !== 0,
    });
  }
}
