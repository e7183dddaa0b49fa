import { createHash } from 'node:crypto';
import { matchesGlob, relative } from 'node:path';
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/**
 * The order of the test files. Those that take longest come first, in the order of their patterns: one of them at the end
 * would leave a core idle. The others come in an order that follows from the seed of vitest, which is printed: what a file
 * leaves behind shows in those after it. None of the `long` ones comes among the last. A part of the files comes in the same
 * order as among all.
 */
export const orderOf = (longest: readonly string[], long: readonly string[] = []): TestSequencerConstructor =>
  class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const { root, sequence } = this.ctx.config;
      this.ctx.logger.log(`The files come in this order again with --sequence.seed=${sequence.seed}\n`);
      const placed = files.map((file) => {
        const path = relative(root, file.moduleId);
        const rank = longest.findIndex((pattern) => matchesGlob(path, pattern));
        // A file with a process of its own would end the processes that others share: it comes after them.
        const group = rank >= 0 ? rank : longest.length + Number(file.project.config.isolate);
        const isLong = long.some((pattern) => matchesGlob(path, pattern));
        const place = placeOf(`${sequence.seed} ${path}`) * (isLong ? 0.7 : 1);
        return { file, group, place };
      });
      placed.sort((a, b) => a.group - b.group || a.place - b.place);
      return placed.map(({ file }) => file);
    }
  };

/** A number from 0 to 1 that follows from the text. */
const placeOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
