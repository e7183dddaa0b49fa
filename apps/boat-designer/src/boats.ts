import {
  type Artifact,
  data,
  type Message,
  type Part,
  type ReferencedArtifact,
  type Task,
  type Turn,
  text,
} from '@batonjs/server';

/** The artifact name of every picture. Clients recognise the versions of a boat by it. */
export const pictureName = 'sailboat_image.png';

/** The boat that a message means, or the question to ask if that is unclear. Neither: the user wants a new boat. */
export interface Choice {
  readonly boat?: Artifact;
  readonly question?: readonly Part[];
}

/** Finds the boat that a message is about: the one it refers to, or else the only one of the conversation. */
export async function chooseBoat(turn: Turn): Promise<Choice> {
  const { tasks, artifacts, missing } = await turn.references();
  const around = (await turn.context.tasks()).flatMap(boatsOf);
  if (missing.length > 0) return ask(`I do not know ${missing.join(', ').slice(0, 200)}.`, around);

  const named = artifacts.length > 0 ? artifacts.filter(isBoat) : tasks.flatMap(boatsOf);
  if (tasks.length > 0 && named.length === 0) return ask('There is no boat in what you refer to.', around);
  if (named.length > 0) return choose(named);

  const offered = offeredIn(turn.messages, around);
  const picked = offered[Number(/\d+/.exec(turn.text)?.[0]) - 1];
  if (picked) return choose([picked]);
  if (wantsNew(turn.text) || (around.length === 0 && !wantsChange(turn.text))) return {};
  return choose(around);
}

const choose = (boats: readonly ReferencedArtifact[]): Choice =>
  boats.length === 1 && boats[0] ? { boat: boats[0].artifact } : ask('', boats);

function ask(because: string, boats: readonly ReferencedArtifact[]): Choice {
  const question =
    boats.length === 0
      ? 'I have not drawn a boat in this conversation yet. Shall I draw a new one?'
      : 'Which boat do you mean? Refer to one, say its number, or ask for a new one:';
  const list = boats.map(({ artifact }, index) => `${index + 1}. ${artifact.description}`);
  const candidates = boats.map(({ taskId, artifact: { artifactId } }) => ({ taskId, artifactId }));
  return { question: [text([`${because} ${question}`.trim(), ...list].join('\n')), data({ candidates })] };
}

const isBoat = ({ artifact }: ReferencedArtifact): boolean => artifact.name === pictureName;

const boatsOf = ({ id, artifacts = [] }: Task): ReferencedArtifact[] =>
  artifacts.map((artifact) => ({ taskId: id, artifact })).filter(isBoat);

/** The boats that the agent's last question offered and that are still stored. */
function offeredIn(
  messages: readonly Message[],
  around: readonly ReferencedArtifact[],
): ReferencedArtifact[] {
  const question = messages.findLast(({ role }) => role === 'ROLE_AGENT');
  const data = question?.parts.flatMap((part) => ('data' in part ? [part.data] : []))[0];
  const { candidates = [] } = Object(data) as { candidates?: readonly { taskId: string }[] };
  return candidates.flatMap(({ taskId }) => around.find((boat) => boat.taskId === taskId) ?? []);
}

const wantsNew = (text: string): boolean =>
  /\b(generate|draw|create|design|new|another|yes|please do)\b|画|生成|新/i.test(text);

const wantsChange = (text: string): boolean =>
  /\b(modify|change|paint|repaint|recolou?r|make (it|the)|turn|refine|instead)\b|改|换|修改/i.test(text);
