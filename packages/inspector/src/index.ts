export type { ActionRecord } from './api/activity.ts';
export type { Action } from './api/agent.ts';
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
