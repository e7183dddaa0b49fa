export { assistant, retry } from './agent.ts';
export { card } from './card.ts';
export { keepsPrompts, mockModel, modelFrom } from './model.ts';
