import { readFileSync } from 'node:fs';
import { type Agent, completed, inputRequired, type Part, type TaskUpdate } from '@batonjs/server';

/** A JSON text as a document prints it. */
export const printed = (path: string): string =>
  readFileSync(new URL(`fixtures/${path}.json`, import.meta.url), 'utf8');

const png = (content: string): Part => ({
  raw: `base64_encoded_png_data_of_a_${content}`,
  filename: 'sailboat_image.png',
  mediaType: 'image/png',
});

let images = 0;

/** Paints the sailboat of the documents, and asks which image is meant if none can be found. */
export const painter: Agent = async function* ({ text, references }) {
  const isRed = text.includes('red');
  const { tasks } = isRed ? await references() : { tasks: [] };
  if (isRed && !tasks.some(({ artifacts }) => artifacts?.some(({ name }) => name === 'sailboat_image.png')))
    return yield inputRequired('Which image shall be red?');
  images += 1;
  const what = isRed ? 'red sailboat' : 'sailboat';
  yield painted(`artifact-${images}`, what, png(isRed ? 'RED_sailboat' : 'sailboat'));
  yield completed();
};

const painted = (artifactId: string, what: string, part: Part): TaskUpdate => ({
  artifact: {
    artifactId,
    name: 'sailboat_image.png',
    description: `A generated image of a ${what} on the ocean.`,
    parts: [part],
  },
});

/** Asks which currency to convert to, in the words of the document about `history`. */
export const exchanger: Agent = async function* ({ messages }) {
  yield messages.length === 1 ? inputRequired('请指定要将USD兑换成哪种货币?') : completed('1美元等于7元');
};
