export type { ModelPrice, ModelPrices } from '@batonjs/server/internals';
export type { Action, ActionRecord } from './api/agent.ts';
export { type Inspector, inspector } from './inspector.ts';
export type {
  InspectedAgent,
  InspectedCaller,
  InspectorOptions,
  Target,
  Viewer,
} from './options.ts';
