// Prints what failed in vitest JSON reports, and the totals as the last line. Arguments: for each run, its report and its exit code. Exits 1 when a test or a file failed, when a run has no test or no report, or when a run itself failed.
// A file that cannot be loaded, or leaves something behind, counts as one that failed; so does a run of which no test or file says why.
// Plain JavaScript for the machine's own Node.js, which may be older than the one the tests run on.
import { readFileSync } from 'node:fs';

const [, , ...args] = process.argv;
const totals = { passed: 0, failed: 0, skipped: 0 };
for (let at = 0; at < args.length; at += 2) add(args[at], args[at + 1]);

const { passed, failed, skipped } = totals;
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Adds a run to the totals, and prints what failed in it. */
function add(path, exitCode = '0') {
  const report = read(path);
  const failures = (report?.testResults ?? []).flatMap(failuresOf);
  const isGreen = report?.success === true && report.numPassedTests > 0 && exitCode === '0';
  totals.passed += report?.numPassedTests ?? 0;
  totals.skipped += (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  totals.failed += isGreen ? failures.length : Math.max(failures.length, 1);
  for (const failure of failures) process.stdout.write(`${failure}\n`);
  if (!isGreen && failures.length === 0)
    process.stdout.write(`FAILED The run of ${path}, outside of its tests: see above.\n`);
}

/** One paragraph for each failed test of a file, or for the file that failed without one. */
function failuresOf({ name, status, message, assertionResults = [] }) {
  const failed = assertionResults.filter((result) => result.status === 'failed');
  if (status === 'failed' && failed.length === 0) return [`FAILED ${relative(name)}\n${indented(message)}`];
  return failed.map(
    ({ fullName, failureMessages = [] }) =>
      `FAILED ${relative(name)} ${fullName}\n${indented(failureMessages.join('\n'))}`,
  );
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
