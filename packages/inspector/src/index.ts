export type { Action, ActionRecord } from './api/agent.ts';
export { type Inspector, inspector } from './inspector.ts';
export type {
  InspectedAgent,
  InspectedCaller,
  InspectorOptions,
  ModelPrice,
  ModelPrices,
  Target,
  Viewer,
} from './options.ts';
