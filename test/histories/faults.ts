export {
  type Call,
  type Fault,
  type FaultRates,
  faultyStore,
} from './faulty-store.ts';
export { type Sabotage, sabotage } from './sabotage.ts';
