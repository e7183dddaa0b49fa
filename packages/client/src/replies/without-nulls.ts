/** Members whose content agents define. In them, `null` is an ordinary value. */
const freeMembers: ReadonlySet<string> = new Set(['metadata', 'params', 'header']);

/**
 * The value without `null` members, which ProtoJSON treats as absent; `parts: null` becomes an empty list. The content
 * of `data`, `metadata` and the `params` of extensions keeps its nulls. Spec: ADR-001.
 */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === 'data' && (member !== null || !hasOtherContent(value as Part))) result.data = member;
    else if (member === null) {
      if (name === 'parts') result.parts = [];
    } else result[name] = freeMembers.has(name) ? member : withoutNulls(member);
  }
  return result;
}

type Part = Readonly<Record<'text' | 'raw' | 'url', unknown>>;

/** Whether a part has content besides `data`. Then `data: null` means that the member is absent. */
const hasOtherContent = ({ text, raw, url }: Part): boolean =>
  [text, raw, url].some((member) => member !== undefined && member !== null);
