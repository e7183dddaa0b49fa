import type { Played } from './play.ts';

/** What was done and answered, as a page. */
export function recordOf(played: readonly Played[]): string {
  const parts = played.map(({ step, answer }, n) => {
    const { why, call, write, test } = step;
    const did = call
      ? `\`${call[0]}\` ${JSON.stringify(call[1])}`
      : write
        ? `writes \`${write[0]}\``
        : `runs \`${test}\``;
    const shown = write ? fenced(write[1].trimEnd(), 'ts') : fenced(partOf(answer, step.reads), 'text');
    return `## ${n + 1}. ${why}\n\n${did}\n\n${shown}`;
  });
  return `# How an assistant wrote an agent\n\n${parts.join('\n\n')}\n`;
}

const fenced = (text: string, language: string): string => `\`\`\`\`${language}\n${text}\n\`\`\`\``;

/** The lines around words; everything without them. */
function partOf(text: string, words: RegExp | undefined): string {
  if (!words) return text;
  const lines = text.split('\n');
  const at = lines.findIndex((line) => words.test(line));
  return ['…', ...lines.slice(Math.max(0, at - 1), at + 3), '…'].join('\n');
}
