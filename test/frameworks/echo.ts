import { type Agent, completed, inputRequired, reply, working } from '@batonjs/server';

/** Where every recipe has its agent. */
export const path = '/agents/echo';

let told = Promise.withResolvers<void>();

/** The agent of all recipes: it echoes; `wait` works until the next `go`, and `ask` asks. */
export const agent: Agent = ({ text }) => {
  if (text === 'wait') return wait();
  if (text === 'ask') return ask();
  if (text === 'go') told.resolve();
  return reply(text);
};

/** The options of its server: the stream of a task that asks stays open, and pages of other origins call it. */
export const options = { streams: { closeOnInputRequired: false }, cors: true, logger: () => {} };

const wait = async function* () {
  told = Promise.withResolvers<void>();
  yield working('On it');
  await told.promise;
  yield completed('Done');
};

const ask = async function* () {
  yield inputRequired('Well?');
};
