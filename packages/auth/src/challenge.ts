/** One challenge of a `WWW-Authenticate` header: a scheme with its parameters. */
export function challenge(scheme: string, parameters: Readonly<Record<string, string>>): string {
  const list = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`);
  return `${scheme} ${list.join(', ')}`;
}

/** Anything but printable ASCII would break the header, or let a name write headers of its own. */
const quotable = (value: string): string =>
  value.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, (character) => `\\${character}`);
