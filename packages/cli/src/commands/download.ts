import { createWriteStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AgentCard, Artifact, Part } from '@batonjs/protocol';
import { FILES } from '@batonjs/protocol/headers';
import type { Command } from 'commander';
import type { OpenAgent } from '../connection/open-agent.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { addAgentFlags, addExample, type CommonOptions } from '../flags/agent-flags.ts';
import { idFields } from '../output/render.ts';
import type { Run, RunContext } from '../run-context.ts';

type DownloadFlags = CommonOptions<'artifact', 'force'> & { readonly dir: string };

/** A part that becomes a file. */
interface Download {
  readonly name: string;
  /** Its bytes, or the link to them. */
  readonly content: Buffer | string;
}

export function addDownload(task: Command, run: Run): void {
  const command = task
    .command('download')
    .description('save the artifacts of a task as files')
    .argument('<id>', 'the id of the task')
    .option('--dir <folder>', 'where to', '.')
    .option('--artifact <id>', 'only this artifact')
    .option('--force', 'overwrite files that exist');
  addExample(addAgentFlags(command), 'task download -a localhost:4000 3f2a… --dir results').action(
    run<DownloadFlags>(download),
  );
}

async function download(context: RunContext<DownloadFlags>, id: string): Promise<void> {
  const { options, output, io } = context;
  const { agent, card, fetch } = await context.open();
  const task = await context.waiting((signal) => agent.getTask({ id, historyLength: 0 }, { signal }));
  const artifacts = (task.artifacts ?? []).filter(
    ({ artifactId }) => options.artifact === undefined || artifactId === options.artifact,
  );
  if (options.artifact !== undefined && artifacts.length === 0)
    throw usage(`The task has no artifact ${options.artifact}`);
  const folder = resolve(io.cwd, options.dir);
  const taken = new Set<string>();
  const files = artifacts.flatMap((artifact) =>
    artifact.parts.flatMap((part, n) => {
      const file = toFile(artifact, part, n, card);
      if (!file) {
        context.exitCode = 1;
        output.note(`Not downloaded: ${'url' in part ? part.url : artifact.artifactId}`);
      }
      return file ? [{ ...file, path: join(folder, unique(file.name, taken)) }] : [];
    }),
  );
  const existing = options.force ? undefined : files.find(({ path }) => existsSync(path));
  if (existing)
    throw new CliError('A2ACLI_ERR_USAGE', `${existing.path} exists`, 'Give --force to overwrite it');
  mkdirSync(folder, { recursive: true });
  for (const { path, content } of files) {
    const chunks =
      typeof content === 'string'
        ? await linked(new Request(content, { signal: io.signal, redirect: 'error' }), fetch)
        : [content];
    await pipeline(chunks, createWriteStream(path, { flags: options.force ? 'w' : 'wx' })).catch((error) => {
      // Half a file would pass for the whole.
      if (error.code !== 'EEXIST') rmSync(path, { force: true });
      throw error;
    });
  }
  const saved = files.map(({ path }) => ({ path, bytes: statSync(path).size }));
  output.result({ taskId: id, files: saved }, [
    ...idFields(task),
    ...saved.map(({ path, bytes }) => ['Saved', `${path} (${bytes} bytes)`] as const),
  ]);
}

/** What a link of the agent leads to. */
async function linked(request: Request, fetch: OpenAgent['fetch']) {
  const { ok, status, body } = await fetch(request);
  if (ok && body) return body;
  throw new CliError('A2ACLI_ERR_UNREACHABLE', `The agent answers a link to a file with ${status}`);
}

/** A part as a file; undefined for a URL elsewhere, which is not fetched: it may lead anywhere. */
function toFile(
  { artifactId, name = artifactId }: Artifact,
  part: Part,
  n: number,
  card: AgentCard,
): Download | undefined {
  const files = card.capabilities?.extensions?.find(({ uri }) => uri === FILES)?.params?.url;
  const numbered = n === 0 ? name : `${name}-${n + 1}`;
  if ('text' in part && part.text !== undefined)
    return { name: safe(part.filename ?? `${numbered}.txt`), content: Buffer.from(part.text) };
  if ('data' in part)
    return {
      name: safe(part.filename ?? `${numbered}.json`),
      content: Buffer.from(`${JSON.stringify(part.data, undefined, 2)}\n`),
    };
  if ('raw' in part && part.raw !== undefined)
    return { name: safe(part.filename ?? numbered), content: Buffer.from(part.raw, 'base64') };
  if ('url' in part && files && part.url.startsWith(`${files}/`))
    return { name: safe(part.filename ?? numbered), content: part.url };
  return undefined;
}

/** A name of an agent as a file in the folder: without a path, and not hidden. */
function safe(name: string): string {
  const plain = basename(name.replaceAll('\\', '/')).replaceAll(/[^\w.() -]/g, '_');
  const visible = plain.replace(/^\.+/, '_').slice(0, 200);
  return visible === '' ? 'artifact' : visible;
}

/** The name, with a number if another part has it. */
function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 2; taken.has(free.toLowerCase()); n++) free = name.replace(/(?=\.[^.]*$)|$/, `-${n}`);
  taken.add(free.toLowerCase());
  return free;
}
