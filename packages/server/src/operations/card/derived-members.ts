import type { AgentCapabilities, AgentCard } from '@batonjs/protocol';
import { FILES, GENERATION, IDEMPOTENCY } from '@batonjs/protocol/headers';
import type { CardOptions } from './card-options.ts';

/** The members of a card that follow from the options of the server. */
export interface DerivedMembers extends Pick<AgentCard, 'securitySchemes' | 'securityRequirements'> {
  readonly capabilities: AgentCapabilities;
}

/** The options that the card depends on. */
interface DerivedFrom {
  readonly card: CardOptions & {
    readonly skills?: readonly Partial<AgentCard['skills'][number]>[] | undefined;
  };
  readonly authenticate?: {
    readonly securitySchemes?: AgentCard['securitySchemes'];
    readonly securityRequirements?: readonly NonNullable<AgentCard['securityRequirements']>[number][];
  };
  readonly idempotency: boolean | 'authenticated';
  readonly preview: boolean;
  readonly files: { readonly options: { readonly url: string; readonly uploadBytes: number } } | undefined;
}

/** Derives members of the card from options. Throws `TypeError` for a combination that callers could not use. */
export function derivedMembers(
  { card, authenticate, idempotency, preview, files }: DerivedFrom,
  pushNotifications: boolean,
): DerivedMembers {
  const { skillOf, extended } = card;
  if (extended && !authenticate) throw new TypeError('`card.extended` needs `authenticate`');
  const guarded = card.skills?.find(({ securityRequirements }) => securityRequirements?.length);
  if (guarded && !authenticate)
    throw new TypeError(`The \`securityRequirements\` of the skill "${guarded.id}" need \`authenticate\``);
  if (guarded && !skillOf)
    throw new TypeError(
      `The \`securityRequirements\` of the skill "${guarded.id}" need \`card.skillOf\`, which finds the skill of a message`,
    );
  const isIdempotent = idempotency === 'authenticated' ? authenticate !== undefined : idempotency;
  const extensions = [
    ...(isIdempotent ? [idempotencyExtension] : []),
    ...(preview ? [generationExtension] : []),
    ...(files ? [filesExtension(files.options)] : []),
  ];
  return {
    securitySchemes: authenticate?.securitySchemes,
    securityRequirements: authenticate?.securityRequirements?.map((requirement) => requirement),
    capabilities: {
      streaming: true,
      pushNotifications,
      ...(extended && { extendedAgentCard: true }),
      ...(extensions.length > 0 && { extensions }),
    },
  };
}

const idempotencyExtension = {
  uri: IDEMPOTENCY,
  description: 'A message that is sent again is received once, as long as its task is kept',
};

const generationExtension = {
  uri: GENERATION,
  description: 'Tasks and events carry a generation, as planned for A2A 1.1',
};

const filesExtension = ({ url, uploadBytes }: { readonly url: string; readonly uploadBytes: number }) => ({
  uri: FILES,
  description: 'Files of messages may be uploaded, and files of tasks are links',
  params: { url: `${url}/files`, maxBytes: uploadBytes },
});
