import { type CardInput, data, rejected, type TaskUpdate, type Turn, taskAgent, text } from '@batonjs/server';
import { changed, declare, type Extendable, isStatus, mark } from '../extension.ts';
import { TYPED_SKILLS } from '../uris.ts';
import type { Skill } from './skill.ts';

/**
 * An agent that has these skills. A client names one in the metadata of its request; of a message that names none, the
 * first skill whose input it fits does it, and where none does, the only or the first one says what is wrong.
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
    card: declared,
    agent: taskAgent((turn) => {
      const id = askedFor(turn);
      if (id === undefined) return (skills.find((each) => each.fits(turn)) ?? skills[0]).run(turn);
      const named = skills.find(({ about }) => about.id === id);
      return named ? changed(named.run(turn), (update) => remember(update, named)) : unknownSkill(id);
    }),
  };
}

/** The skill that the client named: with its message, or before the agent asked it something. */
function askedFor({ extensions, metadata, messages }: Turn): string | undefined {
  const question = messages.findLast(({ role }) => role === 'ROLE_AGENT');
  const hints = [
    extensions.includes(TYPED_SKILLS) ? metadata[TYPED_SKILLS] : undefined,
    question?.metadata?.[TYPED_SKILLS],
  ];
  for (const hint of hints) {
    const { skillId } = Object(hint) as { skillId?: unknown };
    if (skillId !== undefined) return String(skillId);
  }
  return undefined;
}

/** The answer to a question is for the skill that asked. */
const remember = (update: TaskUpdate, { about }: Skill): TaskUpdate =>
  isStatus(update, 'TASK_STATE_INPUT_REQUIRED') ? mark(update, TYPED_SKILLS, { skillId: about.id }) : update;

async function* unknownSkill(id: string) {
  const failure = { code: 'UNKNOWN_SKILL', message: `There is no skill "${id.slice(0, 100)}"` };
  yield rejected([text(failure.message), data(failure, { mediaType: 'application/json' })]);
}
