import { memoryStore } from '@batonjs/store-memory';
import { severalServersScenarios } from './scenarios/several-servers.ts';

severalServersScenarios(memoryStore);
