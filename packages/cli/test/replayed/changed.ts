import { type Agent, artifact, completed } from '@batonjs/server';

const agent: Agent = async function* ({ text, step }) {
  const price = await step('cost', () => 7);
  yield artifact('invoice', `${text}: ${price}`);
  yield completed();
};

export default { agent };
