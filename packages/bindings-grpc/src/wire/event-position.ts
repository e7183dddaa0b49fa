type Members = Readonly<Record<string, unknown>>;

/**
 * The member of an event's `metadata` that holds its position, after which a client may resume. Clients that do not know
 * it ignore it.
 */
export const POSITION = 'https://batonjs.dev/metadata/position';

/** The event with its position. */
export function withPosition(event: unknown, id: string): unknown {
  const [[kind, content] = ['', {}]] = Object.entries(event as Record<string, Members>);
  return {
    [kind]: { ...content, metadata: { ...(content.metadata as object | undefined), [POSITION]: id } },
  };
}
