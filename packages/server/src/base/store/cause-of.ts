/** How many errors deep the causes are read: they may form a circle. */
const depth = 5;
/** The most characters of the text. */
const longest = 500;

/** An error and its causes as one line without stacks. Leaves out credentials of URLs and connection strings. */
export function causeOf(error: unknown): string {
  const texts: string[] = [];
  for (let each = error, n = 0; each !== undefined && n < depth; n++) {
    const text = each instanceof Error ? withoutStatus(each.message) || codeOf(each) : String(each);
    // Many messages end in that of their cause.
    if (text !== '' && !texts.some((known) => known.includes(text))) texts.push(text);
    each = each instanceof Error ? each.cause : undefined;
  }
  const line = texts.join(': ').replaceAll(/\s+/g, ' ');
  return withoutCredentials(line).slice(0, longest);
}

/** Those of gRPC begin with the status, which a message that quotes one leaves out. */
const withoutStatus = (message: string): string => message.replace(/^\d+ [A-Z_]+: /, '');

/** The errors of `net` for a host with several addresses have a code and no message. */
const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);

const withoutCredentials = (text: string): string =>
  text
    .replaceAll(/\/\/\S*@/g, '//')
    .replaceAll(/\b(password|passwd|pwd|secret|token|apikey|api_key)(["']?\s*[=:]\s*)\S+/gi, '$1$2…');
