export {
  type Call,
  type Fault,
  type FaultRates,
  type FaultyStoreOptions,
  faultyStore,
} from './faulty-store.ts';
export { type Sabotage, sabotage } from './sabotage.ts';
