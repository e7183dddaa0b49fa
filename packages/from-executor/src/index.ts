export { fromExecutor } from './from-executor.ts';
