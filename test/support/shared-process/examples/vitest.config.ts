import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ONE_PROCESS } from '../sharing.ts';

const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];
const examples = 'test/support/shared-process/examples';

class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: [`${examples}/[123]-*.ts`],
          isolate: false,
          env: { [ONE_PROCESS]: 'true' },
        },
      },
      { extends: true, test: { name: 'alone', include: [`${examples}/4-*.ts`] } },
    ],
    maxWorkers: 1,
    setupFiles: ['test/support/shared-process/check.ts'],
    sequence: { sequencer: ByName },
  },
});
