import { memoryFiles } from '../../../test/kit/memory-files.ts';
import { describeFileStore } from '../src/index.ts';

describeFileStore('memoryFiles', () => ({ files: memoryFiles() }));
