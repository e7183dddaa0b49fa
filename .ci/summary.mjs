// Prints the totals of a vitest JSON report as one line. Exits 1 when a test or a file failed, when no test ran or when there is no report.
// Plain JavaScript for the machine's own Node.js, which may be older than the one the tests run on.
import { readFileSync } from 'node:fs';

const report = read(process.argv[2]);
const passed = report?.numPassedTests ?? 0;
const failed = report?.numFailedTests ?? 0;
const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);

process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = report?.success && failed === 0 && passed > 0 ? 0 : 1;

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    process.stdout.write(`There is no test report: ${cause.message}\n`);
    return undefined;
  }
}
