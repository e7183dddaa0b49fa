import { memoryStore } from '@batonjs/store-memory';
import { describe } from 'vitest';
import { generationScenarios } from './generation.ts';

describe('on one store in memory', () => generationScenarios(memoryStore));
