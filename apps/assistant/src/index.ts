export { assistant, retry } from './agent.ts';
export { card } from './card.ts';
export { mockModel, modelFrom } from './model.ts';
