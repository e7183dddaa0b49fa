import { memoryStore } from '@batonjs/store-memory';
import { lossScenarios } from './scenarios/loss.ts';

lossScenarios(memoryStore);
