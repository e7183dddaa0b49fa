import type { AgentCapabilities, AgentCard, AgentSkill } from '@batonjs/protocol';
import type { Caller } from '../../agent/caller.ts';
import type { SkillOf } from '../../agent/skill-of.ts';

/** The members of the card that clients see and you write; the server fills in the others. */
type CardMembers = Pick<AgentCard, 'name' | 'description'> &
  Partial<Omit<AgentCard, 'name' | 'description' | 'skills' | 'capabilities'>> & {
    readonly skills?: readonly SkillInput[] | undefined;
    readonly capabilities?: AgentCapabilities | undefined;
  };

/** The members of the card that you write, and what the server does with it; the server fills in the others. */
export type CardInput = CardMembers & CardOptions;

/** Members of `card` that clients do not see. */
export interface CardOptions {
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
}

/**
 * Members that replace those of the public card, or a function from a caller to them; undefined for no extended card.
 */
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
