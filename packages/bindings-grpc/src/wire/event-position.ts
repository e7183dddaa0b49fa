type Members = Readonly<Record<string, unknown>>;

/**
 * The member of an event's `metadata` that holds its position, after which a client may resume. Clients that do not know
 * it ignore it.
 */
export const POSITION = 'https://batonjs.dev/metadata/position';

export function withPosition(event: unknown, id: string): unknown {
  const [[kind, content] = ['', {}]] = Object.entries(event as Record<string, Members>);
  return {
    [kind]: { ...content, metadata: { ...(content.metadata as object | undefined), [POSITION]: id } },
  };
}

/** Takes the position out of an event that was just read. */
export function takePosition(event: Record<string, unknown>): { id?: string; event: unknown } {
  const [content] = Object.values(event) as { metadata?: Record<string, unknown> }[];
  const metadata = content?.metadata;
  const id = metadata?.[POSITION];
  if (!content || !metadata || typeof id !== 'string') return { event };
  delete metadata[POSITION];
  if (Object.keys(metadata).length === 0) delete content.metadata;
  return { id, event };
}
