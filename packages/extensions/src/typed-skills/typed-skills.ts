import { type Granted, type UnmetRequirement, unmetRequirement } from '@batonjs/protocol/security';
import {
  authRequired,
  type CardInput,
  data,
  rejected,
  type TaskUpdate,
  type Turn,
  taskAgent,
  text,
} from '@batonjs/server';
import { addToMessage, answerFor, declare, type Extendable, isStatus, mapUpdates } from '../extension.ts';
import { TYPED_SKILLS } from '../uris.ts';
import type { Skill } from './skill.ts';

/**
 * Creates an agent with these skills. A client names a skill in the metadata of its request. Without a name, the agent
 * runs the first skill whose input fits the message, or the first skill of all if none fits; that one reports the
 * problems.
 */
export function typedSkills(card: CardInput, ...skills: readonly [Skill, ...Skill[]]): Extendable {
  const schemas = Object.fromEntries(skills.map(({ about, schemas: own }) => [about.id, own]));
  const declared = declare(
    { ...card, skills: skills.map(({ about }) => about) },
    {
      uri: TYPED_SKILLS,
      description: 'Says what each skill takes and gives, as JSON Schema',
      params: { skills: schemas },
    },
  );
  return {
    card: {
      ...declared,
      skillOf: ({ metadata }, extensions) =>
        extensions.includes(TYPED_SKILLS) ? skillIdIn(metadata?.[TYPED_SKILLS]) : undefined,
    },
    agent: taskAgent((turn) => {
      const id = namedSkill(turn);
      if (id === undefined) return runAllowed(skills.find((each) => each.fits(turn)) ?? skills[0], turn);
      const named = skills.find(({ about }) => about.id === id);
      return named
        ? mapUpdates(runAllowed(named, turn), (update) => keepSkill(update, named))
        : unknownSkill(id);
    }),
  };
}

/** The skill that the client named with its message, or before the agent asked its question. */
function namedSkill({ extensions, metadata, messages }: Turn): string | undefined {
  const question = messages.findLast(({ role }) => role === 'ROLE_AGENT');
  const hints = [
    extensions.includes(TYPED_SKILLS) ? metadata[TYPED_SKILLS] : undefined,
    question?.metadata?.[TYPED_SKILLS],
  ];
  return hints.map(skillIdIn).find((id) => id !== undefined);
}

function skillIdIn(hint: unknown): string | undefined {
  const { skillId } = Object(hint) as { skillId?: unknown };
  return skillId === undefined ? undefined : String(skillId);
}

/** Runs a skill, or asks for better credentials if the caller lacks some that the skill requires. Spec: §7.6. */
function runAllowed(skill: Skill, turn: Turn): AsyncIterable<TaskUpdate> {
  const { id, securityRequirements } = skill.about;
  const unmet = unmetRequirement(securityRequirements, turn.caller as Granted);
  return unmet ? answerFor(turn, needsMore(id, unmet)) : skill.run(turn);
}

function needsMore(skillId: string, { schemes, scopes }: UnmetRequirement): TaskUpdate {
  const message = `The skill "${skillId}" needs more than these credentials: send a message with better ones`;
  const failure = {
    code: 'PERMISSION_DENIED',
    message,
    details: { skillId, schemes: [...schemes], scopes: [...scopes] },
  };
  const parts = [text(message), data(failure, { mediaType: 'application/json' })];
  return addToMessage(authRequired(parts), TYPED_SKILLS, { skillId });
}

/** Adds the skill to its question, so that the answer returns to it. */
const keepSkill = (update: TaskUpdate, { about }: Skill): TaskUpdate =>
  isStatus(update, 'TASK_STATE_INPUT_REQUIRED')
    ? addToMessage(update, TYPED_SKILLS, { skillId: about.id })
    : update;

async function* unknownSkill(id: string) {
  const failure = { code: 'UNKNOWN_SKILL', message: `There is no skill "${id.slice(0, 100)}"` };
  yield rejected([text(failure.message), data(failure, { mediaType: 'application/json' })]);
}
