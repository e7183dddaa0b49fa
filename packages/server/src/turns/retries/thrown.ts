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
    const { message, code } = Object(error) as Readonly<Record<string, unknown>>;
    const stack = stackOf(error);
    return {
      message: cut(String(message ?? error), most.message),
      ...(stack !== undefined && { stack: cut(stack, most.stack) }),
      ...((typeof code === 'string' || typeof code === 'number') && { code: cut(String(code), most.code) }),
    };
  } catch {
    return { message: 'The thrown value cannot be read' };
  }
}

/** How many causes of an error are told. */
const mostCauses = 3;

/** The stack of an error and those of its causes. Its own part is cut, so that the first cause is seen too. */
function stackOf(error: unknown): string | undefined {
  const stacks: string[] = [];
  let next = error;
  for (let count = 0; count <= mostCauses; count += 1) {
    const { stack, cause } = Object(next) as Readonly<Record<string, unknown>>;
    if (typeof stack === 'string') stacks.push(stack);
    else if (count > 0) stacks.push(typeof next === 'object' ? 'an object without a stack' : String(next));
    if (cause === undefined || cause === null) break;
    next = cause;
  }
  if (stacks.length < 2) return stacks[0];
  return stacks.map((stack) => cut(stack, most.stack / stacks.length - causedBy.length)).join(causedBy);
}

const causedBy = '\nCaused by: ';

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;
