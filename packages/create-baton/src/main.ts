#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { choicesOn, chosen, InputError, isNewEnough, oldestNode, type Project } from './choices.ts';
import { installerOf } from './installer.ts';
import { nextSteps, projectFiles, projectName } from './project-files.ts';
import { ask, checkFolder, readOptions, usage, usualFolder } from './read-options.ts';
import { writeProject } from './write-project.ts';

const { stdin, stdout, stderr, env } = process;

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') stdout.write(usage);
  else if (options === 'version') stdout.write(`${ownVersion()}\n`);
  else {
    if (options.folder !== undefined) checkFolder(options.folder);
    const isComplete = options.folder !== undefined && options.store && options.template;
    if (!options.yes && !isComplete && !stdin.isTTY)
      throw new InputError('There is no terminal to ask: pass --yes, or a folder, --store and --template');
    const { stores } = choicesOn(options.host);
    const usual: Project = {
      folder: usualFolder,
      store: chosen('', Object.keys(stores)[0]!, stores),
      template: 'plain',
    };
    create(options.yes || isComplete ? { ...usual, ...options } : await ask(options, stdin, stdout));
  }
} catch (error) {
  if ((error as Error).name === 'AbortError') {
    stderr.write('\nNothing was written\n');
    process.exit(130);
  }
  const { message } = error as Error;
  stderr.write(`create-baton: ${message}\n`);
  if (error instanceof InputError) stderr.write('See npm create baton -- --help\n');
  process.exit(error instanceof InputError ? 2 : 1);
}

function create(project: Project): void {
  const { folder } = project;
  const installer = installerOf(env.npm_config_user_agent);
  const { install, run } = installer;
  const name = projectName(folder);
  writeProject(folder, projectFiles(name, project, installer));
  const steps = [
    ...(folder === '.' ? [] : [`cd ${folder}`]),
    install,
    `${run} test`,
    ...nextSteps(project, installer),
  ];
  const { node } = process.versions;
  const note = isNewEnough(node) ? '' : `\nIt needs Node.js ${oldestNode} or newer; this is ${node}.\n`;
  const on = project.host ? `, on ${project.host}` : '';
  stdout.write(`Wrote ${name}: ${project.template} agent, tasks in ${project.store}${on}.\n${note}\n`);
  stdout.write(`${steps.map((step) => `  ${step}\n`).join('')}`);
}

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
