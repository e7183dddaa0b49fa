import { type Agent, artifact, completed, file, inputRequired, rejected, working } from '@batonjs/server';
import { chooseBoat, pictureName } from './boats.ts';
import { describe, designOf, isEmpty, readDesign } from './design.ts';
import { drawBoat } from './picture.ts';

/** Draws a new sailboat, or an earlier one with the changes that the message asks for. */
export const designBoat: Agent = async function* (turn) {
  const { boat, question } = await chooseBoat(turn);
  if (question) return yield inputRequired(question);
  const wanted = readDesign(turn.messages);
  if (boat && isEmpty(wanted))
    return yield rejected('I can change the colours of the hull and the sails, nothing else.');

  yield working('Drawing');
  const design = { ...(boat && designOf(boat)), ...wanted };
  const about = { artifactId: `boat-${turn.taskId}`, name: pictureName, description: describe(design) };
  const picture = file(drawBoat(design), { mediaType: 'image/png', filename: pictureName });
  yield artifact({ ...about, metadata: { design } }, picture);
  yield completed();
};
