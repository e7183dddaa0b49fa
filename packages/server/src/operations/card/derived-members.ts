import type { AgentCapabilities, AgentCard, AgentSkill } from '@batonjs/protocol';
import { FILES, GENERATION, IDEMPOTENCY } from '@batonjs/protocol/headers';
import { isSameJson } from '@batonjs/protocol/json';
import type { TaskStore } from '@batonjs/store';
import type { Caller, SkillOf } from '../../agent/caller.ts';
import type { Tenants } from './tenants.ts';

/** The members of the card that clients see and you write; the server fills in the others. */
type CardMembers = Pick<AgentCard, 'name' | 'description'> &
  Partial<Omit<AgentCard, 'name' | 'description' | 'skills' | 'capabilities'>> & {
    readonly skills?: readonly SkillInput[] | undefined;
    readonly capabilities?: AgentCapabilities | undefined;
  };

/** The members of the card that you write, and what the server does with it; the server fills in the others. */
export type CardInput = CardMembers & CardOptions;

/** Members of `card` that clients do not see. */
interface CardOptions {
  /**
   * Finds the skill that a message is for, so that its `securityRequirements` are enforced before the message is
   * accepted. A message to a task must meet those of the skills that earlier messages of the task named, too.
   * `typedSkills` of `@batonjs/extensions` brings one. Needed if `skills` have `securityRequirements`.
   */
  readonly skillOf?: SkillOf | undefined;
  /**
   * Members that replace those of the card for authenticated callers, the same for all or by caller. Media types and
   * extensions that only these members name are not accepted, and `securityRequirements` that only they list are not
   * checked: name them in the card too.
   */
  readonly extended?: ExtendedCard | undefined;
  /** Signs the cards. Needs `publicUrl`: no request may choose the address that is signed. */
  readonly sign?: SignCard | undefined;
  /**
   * The tenants that exist; a request may always name none. Default: any name is a tenant with tasks of its own. The
   * card of a tenant is at `/<tenant>/.well-known/agent-card.json`.
   */
  readonly tenants?: Tenants | undefined;
}

/** Members that replace those of the public card, or a function from a caller to them; undefined for no extended card. */
export type ExtendedCard =
  | Partial<CardMembers>
  | ((caller: Caller) => Partial<CardMembers> | undefined | Promise<Partial<CardMembers> | undefined>);

/**
 * Signs a card, such as `signCard` of `@batonjs/auth`. Called once for each card that differs. Needs `publicUrl`,
 * unless the card lists its interfaces itself.
 */
export type SignCard = (card: AgentCard) => AgentCard | Promise<AgentCard>;

/** A skill; `tags` may be left out. */
export type SkillInput = Omit<AgentSkill, 'tags'> & Partial<Pick<AgentSkill, 'tags'>>;

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
  description: 'Tasks have generations and a timeline, as planned for A2A 1.1',
};

const filesExtension = ({ url, uploadBytes }: { readonly url: string; readonly uploadBytes: number }) => ({
  uri: FILES,
  description: 'Files of messages may be uploaded, and files of tasks are links',
  params: { url: `${url}/files`, maxBytes: uploadBytes, tus: '1.0.0' },
});

interface Named {
  readonly card: unknown;
  servers: number;
}

const known = new WeakMap<TaskStore, Map<string, Named>>();

/**
 * Takes a name on a store for an agent of this process, until the returned function is called. Throws `TypeError` if an
 * agent with another card has the name on the same store object: each would answer the tasks of the other. Cards may
 * differ in their interfaces.
 */
export function takeName(store: TaskStore, name: string, card: CardInput): () => void {
  const names = known.get(store) ?? new Map<string, Named>();
  known.set(store, names);
  const named = names.get(name) ?? { card: comparable(card), servers: 0 };
  if (!isSameJson(named.card, comparable(card))) {
    throw new TypeError(
      `An agent with another card is named "${name}" on this store, and the two would share their tasks: give each a \`name\` of its own`,
    );
  }
  names.set(name, named);
  named.servers += 1;
  let isLeft = false;
  return () => {
    if (isLeft) return;
    isLeft = true;
    named.servers -= 1;
    if (named.servers === 0) names.delete(name);
  };
}

const comparable = ({ supportedInterfaces: _, extended: __, ...card }: CardInput): unknown =>
  JSON.parse(JSON.stringify(card));
