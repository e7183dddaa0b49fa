/**
 * The value as JSON keeps it; `undefined` becomes `null`. Throws `TypeError` where JSON cannot hold it: `what` names it
 * in the message.
 */
export function asJson(what: string, value: unknown): unknown {
  if (value === undefined) return null;
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return JSON.parse(text);
  throw new TypeError(`${what} is not JSON, so it cannot be kept`, { cause });
}
