import { memoryStore } from '@batonjs/store-memory';
import { severalServersScenarios } from './several-servers.ts';

severalServersScenarios(memoryStore);
