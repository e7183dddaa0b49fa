import { memoryStore } from '@batonjs/store-memory';
import { lossScenarios } from './loss.ts';

lossScenarios(memoryStore);
