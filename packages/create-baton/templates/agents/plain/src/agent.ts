import { type Agent, artifact, completed, inputRequired, working } from '@batonjs/server';

export const card = {
  name: '{{title}}',
  description: 'Takes orders of boxes',
  version: '0.1.0',
  skills: [{ id: 'order', name: 'Order', description: 'Orders boxes, such as "3 boxes"', tags: ['order'] }],
};

export const agent: Agent = async function* (turn) {
  // An update is in the store when its `yield` returns. A question ends the turn: the answer starts the next one.
  const [count] = turn.text.match(/\d{1,6}/) ?? [];
  if (!count) return yield inputRequired('How many boxes?');

  yield working(`Packing ${count} boxes`);
  // A step that is done is not done again if this process dies, and another one goes on.
  const order = await turn.step('order', () => crypto.randomUUID());

  yield artifact('receipt', `${count} boxes, order ${order}`);
  yield completed();
};
