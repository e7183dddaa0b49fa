// Prints what failed in a vitest JSON report, and the totals as the last line. Exits 1 when a test or a file failed, when no test ran or when there is no report.
// Plain JavaScript for the machine's own Node.js, which may be older than the one the tests run on.
import { readFileSync } from 'node:fs';

const report = read(process.argv[2]);
const passed = report?.numPassedTests ?? 0;
const failed = report?.numFailedTests ?? 0;
const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);

for (const failure of failures(report)) process.stdout.write(`${failure}\n`);
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = report?.success && failed === 0 && passed > 0 ? 0 : 1;

/** One paragraph for each failed test, and for each file that could not be run. */
function failures(report) {
  return (report?.testResults ?? []).flatMap(({ name, status, message, assertionResults = [] }) => {
    const failed = assertionResults.filter((result) => result.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`FAILED ${relative(name)}\n${indented(message)}`];
    return failed.map(
      ({ fullName, failureMessages = [] }) =>
        `FAILED ${relative(name)} ${fullName}\n${indented(failureMessages.join('\n'))}`,
    );
  });
}

function relative(file) {
  return file.replace(`${process.cwd()}/`, '');
}

/** The first lines of a message: what was expected, and where. */
function indented(message = '') {
  const lines = message.split('\n').slice(0, 12);
  return lines.map((line) => `  ${line.slice(0, 300)}`).join('\n');
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    process.stdout.write(`There is no test report: ${cause.message}\n`);
    return undefined;
  }
}
