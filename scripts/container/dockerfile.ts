/** An instruction of a Dockerfile, its continued lines joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** From one `FROM` to the next. */
export interface Stage {
  readonly from: string;
  /** What other stages call it; the last one is usually without a name. */
  readonly name?: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Reads the stages of a Dockerfile. Throws `SyntaxError` for an instruction before the first `FROM`. */
export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of lines) {
    const [name = '', rest = ''] = line.split(/\s(.*)/s);
    if (name === 'FROM') {
      const [from = '', , stage] = rest.split(' ');
      stages.push({ from, name: stage, instructions: [] });
      continue;
    }
    if (!stages.at(-1)) throw new SyntaxError(`${name} comes before the first FROM`);
    stages.at(-1)!.instructions.push({ name, text: rest });
  }
  return stages;
}

/** The words of an instruction that is written as a list. Throws `SyntaxError` for the form that a shell runs. */
export function wordsOf({ name, text }: Instruction): string[] {
  const list = /\[.*\]$/s.exec(text);
  if (!list)
    throw new SyntaxError(`${name} is not a list: a shell between Docker and the process keeps signals`);
  return JSON.parse(list[0]);
}
