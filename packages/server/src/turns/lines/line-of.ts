import type { LogLine } from '@batonjs/lifecycle';
import { isObject } from '@batonjs/protocol/json';

/** How many characters of one line are kept: of its text, and of its fields as JSON. */
const most = { text: 2_000, fields: 4_000 };

/** A line as it is kept. Never throws: to log must not make an agent fail. */
export function lineOf(
  level: LogLine['level'],
  text: string,
  fields: object | undefined,
  at: string,
): LogLine {
  const kept = fields && jsonOf(fields);
  const isCut = text.length > most.text || kept === 'left out';
  return {
    at,
    level,
    text: text.length > most.text ? `${text.slice(0, most.text - 1).toWellFormed()}…` : text.toWellFormed(),
    ...(kept !== undefined && kept !== 'left out' && { fields: kept }),
    ...(isCut && { isCut }),
  };
}

/** The fields as JSON, errors with their message and stack. */
function jsonOf(fields: object): Readonly<Record<string, unknown>> | 'left out' {
  try {
    const json = JSON.stringify(fields instanceof Error ? { error: fields } : fields, withErrors);
    if (json.length > most.fields) return 'left out';
    const value: unknown = JSON.parse(json);
    return isObject(value) ? { ...value } : { value };
  } catch {
    return 'left out';
  }
}

function withErrors(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...value, name, message, ...(stack !== undefined && { stack: stack.slice(0, 2_000) }), cause };
}
