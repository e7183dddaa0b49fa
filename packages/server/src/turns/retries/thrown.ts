/** How many characters of each text are kept: an error may hold the whole answer of a model. */
const most = { message: 1_000, stack: 4_000, code: 100 };

/** What operators are told of a thrown value. Clients never see it. */
export interface Thrown {
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
}

/** Never throws, for any thrown value. */
export function describeThrown(error: unknown): Thrown {
  try {
    const { message, stack, code } = Object(error) as Readonly<Record<string, unknown>>;
    return {
      message: cut(String(message ?? error), most.message),
      ...(typeof stack === 'string' && { stack: cut(stack, most.stack) }),
      ...((typeof code === 'string' || typeof code === 'number') && { code: cut(String(code), most.code) }),
    };
  } catch {
    return { message: 'The thrown value cannot be read' };
  }
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;
