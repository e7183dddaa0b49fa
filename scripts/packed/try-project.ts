import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Command, freePort, run } from '../../test/kit/processes.ts';

const execute = promisify(execFile);

/** A project that create-baton wrote, with its packages installed. */
export interface InstalledProject {
  readonly folder: string;
  readonly template: string;
  /** The Node.js that runs it. */
  readonly node: string;
  /** Where its store is, if that is a server. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a script of the project's manifest to its end. Rejects with its output if it fails. */
export async function runScript({ folder, node, env }: InstalledProject, name: string): Promise<string> {
  const path = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const options = { cwd: folder, env: { ...process.env, ...env, PATH: path } };
  const { stdout } = await execute('npm', ['run', '--silent', name], options).catch((failure) => {
    throw new Error(`npm run ${name} failed in ${folder}:\n${failure.stdout}\n${failure.stderr}`);
  });
  return stdout;
}

/**
 * Starts the project as its `start` does, asks for its health, sends it a message with its own client, and stops it with
 * SIGTERM. Resolves to what the client wrote. Rejects if anything does not go as the README of the project says.
 */
export async function tryProject(project: InstalledProject): Promise<string> {
  const { folder, node, env, template } = project;
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const port = String(await freePort());
  const argumentsOf = (script: string): string[] => {
    const [program, ...args] = scripts[script].split(' ');
    if (program !== 'node') throw new Error(`npm run ${script} runs ${program}`);
    return args;
  };
  await using server: Command = run(node, argumentsOf('start'), { cwd: folder, env: { ...env, PORT: port } });
  await server.until(/ is at http/);
  for (const path of ['/livez', '/readyz']) {
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`);
    if (status !== 200) throw new Error(`${path} answers ${status}`);
  }
  const message = ['plain', 'express'].includes(template) ? '3 boxes' : 'hello';
  const url = `http://127.0.0.1:${port}`;
  await using client = run(node, [...argumentsOf('client'), message], {
    cwd: folder,
    env: { AGENT_URL: url },
  });
  const code = await client.ended;
  if (code !== 0) throw new Error(`The client ended with ${code}:\n${client.output}`);
  server.signal('SIGTERM');
  const ended = await server.ended;
  if (ended !== 0) throw new Error(`SIGTERM ended it with ${ended}:\n${server.output}`);
  return client.output;
}
