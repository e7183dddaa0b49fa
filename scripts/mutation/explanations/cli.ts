import type { Explanation } from './explanation.ts';

export const explanationsOfCli: readonly Explanation[] = [
  {
    file: 'packages/cli/src/settings/tokens.ts',
    line: 'writeFileSync(next, `${JSON.stringify({ ...readAll(home), [origin]: token }, undefined, 2)}\\n`, {',
    replacements: ['{}'],
    why: 'The mode is set once more before the file has its name: it only keeps others out in between.',
  },
  {
    file: 'packages/cli/src/commands/card.ts',
    line: ": { keys: JSON.parse(readFileSync(resolve(io.cwd, jwks), 'utf8')).keys };",
    replacements: ['""'],
    why: 'The same: JSON is parsed from bytes as from their text.',
  },
  {
    file: 'packages/cli/src/commands/download.ts',
    line: ".option('--dir <folder>', 'where to', '.')",
    replacements: ['""'],
    why: 'The same: both are the folder in which the command runs.',
  },
  {
    file: 'packages/cli/src/commands/task.ts',
    line: '...(pageSize !== undefined && { pageSize }),',
    replacements: ['true'],
    why: 'The same: a member that is undefined is not sent.',
  },
  {
    file: 'packages/cli/src/deployment/store-checks.ts',
    line: "const folder = mkdtempSync(join(tmpdir(), 'baton-doctor-'));",
    why: 'The name of a folder that is gone when the check is over.',
  },
];
