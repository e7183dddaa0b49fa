import { type Agent, artifact, completed } from '@batonjs/server';

/** The agent that the tasks were recorded with. */
const agent: Agent = async function* ({ text, step }) {
  const price = await step('price', () => 7);
  yield artifact('invoice', `${text}: ${price}`);
  yield completed();
};

export default agent;
