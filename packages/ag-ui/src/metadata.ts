import type { Json, Message } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';

/** The key of what this package writes into the metadata of messages. */
export const AG_UI = 'https://batonjs.dev/ag-ui/v1';

/** A tool that the front end runs. */
export interface FrontEndTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema. */
  readonly parameters?: Readonly<Record<string, Json>>;
}

/** What a front end offers to an agent. */
export interface FrontEnd {
  readonly tools: readonly FrontEndTool[];
  readonly context: readonly { readonly description: string; readonly value: string }[];
  readonly state: Json | undefined;
  readonly forwardedProps: Json | undefined;
}

/**
 * The tools, the context and the state that the front end sent with a message: `frontEndOf(turn.message)`. Undefined if it
 * came in another way. Callers write all of it: treat it as you treat their messages.
 */
export function frontEndOf({ metadata }: Pick<Message, 'metadata'>): FrontEnd | undefined {
  const sent: Record<string, Json | undefined> = Object(metadata?.[AG_UI]);
  if (!Array.isArray(sent.tools) || !Array.isArray(sent.context)) return undefined;
  return {
    tools: sent.tools.flatMap((tool): FrontEndTool[] => {
      const { name, description, parameters }: Record<string, Json | undefined> = Object(tool);
      if (typeof name !== 'string') return [];
      return [
        {
          name,
          ...(typeof description === 'string' && { description }),
          ...(isObject(parameters) && { parameters: parameters as Record<string, Json> }),
        },
      ];
    }),
    context: sent.context.flatMap((entry) => {
      const { description, value }: Record<string, Json | undefined> = Object(entry);
      return typeof description === 'string' && typeof value === 'string' ? [{ description, value }] : [];
    }),
    state: sent.state,
    forwardedProps: sent.forwardedProps,
  };
}
