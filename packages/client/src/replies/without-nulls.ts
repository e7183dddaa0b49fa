/** Members whose content agents define. In them, `null` is an ordinary value. */
const freeMembers: ReadonlySet<string> = new Set(['metadata', 'params', 'header']);

/** Members as the proto spells them, which readers of ProtoJSON accept. Not those of maps, whose keys are names. */
const protoNames =
  /^((context|task|message|artifact)_id|reference_task_ids|media_type|last_chunk|(status|artifact)_update|next_page_token|(page|total)_size)$/;
const jsonName = (name: string): string =>
  protoNames.test(name) ? name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) : name;

/**
 * The value without `null` members, which ProtoJSON treats as absent; `parts: null` becomes an empty list, and with the
 * names of JSON where it has those of the proto (`artifact_id`). The content of `data`, `metadata` and the `params` of
 * extensions stays as it is. Spec: ADR-001.
 */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [given, member] of Object.entries(value)) {
    const name = jsonName(given);
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
