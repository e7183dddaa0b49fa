export {
  type Call,
  type Fault,
  type FaultRates,
  type FaultyStoreOptions,
  faultyStore,
} from './faults/faulty-store.ts';
export { type Sabotage, sabotage } from './faults/sabotage.ts';
