import { randomUUID } from 'node:crypto';
import { access, readFile, stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import type { AgentReply } from '@batonjs/client';
import type { Json, Part, Struct, Task } from '@batonjs/protocol';
import { FILES } from '@batonjs/protocol/headers';
import { tryJson } from '@batonjs/protocol/json';
import { textOf } from '@batonjs/protocol/parts';
import { type Command, Option } from 'commander';
import { usage } from '../errors/cli-error.ts';
import {
  addAgentFlags,
  addExample,
  addStreamFlag,
  addWaitFlags,
  type CommonOptions,
  toMetadata,
} from '../flags/agent-flags.ts';
import { sendAndWait } from '../following/wait.ts';
import type { Io } from '../io.ts';
import { idFields, showEvent, showReply } from '../output/render.ts';
import type { Run, RunContext } from '../run-context.ts';
import { keepUpload, uploadOf } from '../settings/settings.ts';

type SendFlags = CommonOptions<'taskId' | 'contextId', 'async' | 'returnImmediately' | 'wait'> & {
  readonly metadata?: Struct;
  readonly pollInterval: number;
};

export function addSend(program: Command, run: Run): void {
  const command = program
    .command('send')
    .description('send a message, and wait for its result')
    .argument('[text]', 'a text part, before those of the flags');
  addPartFlags(command)
    .option('--task-id <id>', 'continue this task')
    .option('--context-id <id>', 'start a new task in this context')
    .option('--metadata <json>', 'metadata of the request, a JSON object', toMetadata)
    .option('--async', 'do not wait: print the ids at once')
    .addOption(new Option('--return-immediately').hideHelp())
    .addOption(new Option('--no-wait').hideHelp())
    .option('--wait', 'wait, also where the settings say --async');
  addExample(addWaitFlags(addStreamFlag(addAgentFlags(command))), 'send -a localhost:4000 "100 USD"').action(
    run<SendFlags>(send),
  );
}

async function send(context: RunContext<SendFlags>, text: string | undefined): Promise<void> {
  const { options, output } = context;
  const parts = await partsOf(context, text);
  const { taskId, contextId, metadata } = options;
  const { agent } = await context.open();
  // Only agents with extensions can report progress.
  const offered = agent.card.capabilities?.extensions ?? [];
  const known = offered.length > 0 ? await import('@batonjs/extensions/client') : undefined;
  const offersProgress = offered.some(({ uri }) => uri === known?.TASK_PROGRESS);
  const message = {
    messageId: randomUUID(),
    task: taskId,
    ...{ contextId, metadata },
    extensions: known && offersProgress ? [known.TASK_PROGRESS] : undefined,
  };
  if (isAsync(context)) {
    const reply = await context.waiting((signal) =>
      agent.send(parts, { ...message, returnImmediately: true, signal }),
    );
    showReply(output, reply);
    if (reply.task) follow(context, reply.task);
    return;
  }
  const isStream = options.stream ?? false;
  let last: Task | undefined;
  const reply = await context.following(
    (_, wait) => sendAndWait(agent, parts, message, wait),
    (event, task) => {
      if (task) context.know(task.id);
      if (isStream) showEvent(output, event);
      last = event.task;
    },
    (task) => [textOf(task.status.message) || task.status.state, known?.progressOf(task)],
  );
  showEnd(context, reply, isStream, last);
}

/** The whole result; after events only what the last one did not say. */
function showEnd(context: RunContext, reply: AgentReply, isStream: boolean, last: Task | undefined): void {
  const { output } = context;
  if (!isStream) showReply(output, reply);
  else if (reply.task && !output.isJson && !last) output.fields(idFields(reply.task));
  if (reply.task) context.conclude(reply.task);
}

/** `--wait` on the command line overrides what the settings say. */
function isAsync({ options, command }: RunContext<SendFlags>): boolean {
  const { async: isAsked = false, returnImmediately = false, wait } = options;
  if (command.getOptionValueSource('wait') === 'cli') return wait === false;
  return isAsked || returnImmediately;
}

/** How to go on with a task that this command does not wait for. */
function follow(context: RunContext, { id }: Task): void {
  context.output.advise('Follow', context.commandLine('task get', id, '--wait'));
}

/** One part flag as it stands on the command line. */
interface GivenPart {
  readonly kind: 'text' | 'file' | 'data';
  readonly value: string;
  mediaType?: string;
}

const given = new WeakMap<Command, GivenPart[]>();

/** Adds the flags for the parts of a message. Their order on the command line is the order of the parts. */
function addPartFlags(command: Command): Command {
  const parts: GivenPart[] = [];
  given.set(command, parts);
  const add = (kind: GivenPart['kind']) => (value: string) => {
    parts.push({ kind, value });
    return value;
  };
  const flag = (kind: GivenPart['kind'], flags: string, description: string) =>
    command
      .addOption(new Option(`--${kind} ${flags}`, description).argParser(add(kind)))
      .addOption(new Option(`--${kind}-part ${flags}`, description).argParser(add(kind)).hideHelp());
  flag('text', '<text>', 'a text part; repeatable');
  flag('file', '<path or url>', 'a file part: a local file is sent along, a URL is only named; repeatable');
  flag('data', '<json or ->', 'a data part; - reads it from standard input; repeatable');
  command.addOption(
    new Option('--media-type <type>', 'the media type of the part before it').argParser((value: string) => {
      const part = parts.at(-1);
      if (!part) throw usage('--media-type stands after the part that it belongs to');
      part.mediaType = value;
      return value;
    }),
  );
  return command;
}

/** The parts of the message: the text argument, then the part flags in their order. */
async function partsOf(context: RunContext, text: string | undefined): Promise<Part[]> {
  const parts: Part[] = text === undefined ? [] : [{ text }];
  for (const part of given.get(context.command) ?? []) parts.push(await toPart(part, context));
  if (parts.length === 0)
    throw usage('There is nothing to send', 'Give a text, or one of --text, --file and --data');
  return parts;
}

async function toPart({ kind, value, mediaType }: GivenPart, context: RunContext): Promise<Part> {
  const named = mediaType === undefined ? {} : { mediaType };
  if (kind === 'text') return { text: value, ...named };
  if (kind === 'data')
    return { data: parseData(value === '-' ? await readAll(context.io.stdin) : value), ...named };
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return { url: value, filename: fileOf(value), ...named };
  await access(value).catch((cause) => {
    throw usage(`The file ${value} cannot be read: ${cause.code}`);
  });
  return toFilePart(context, value, {
    filename: basename(value),
    mediaType: mediaType ?? inferred[extname(value).toLowerCase()] ?? 'application/octet-stream',
  });
}

/** Larger files are uploaded, where the agent takes uploads. In bytes. */
const inlineBytes = 1024 * 1024;

/** Uploads a large file, with a bar for a person who waits. The same command goes on with an upload that was left. */
async function toFilePart(
  context: RunContext,
  path: string,
  about: { filename: string; mediaType: string },
): Promise<Part> {
  const { size, mtimeMs } = await stat(path);
  const agent = size > inlineBytes ? await context.agent() : undefined;
  const files = agent?.card.capabilities?.extensions?.find(({ uri }) => uri === FILES);
  if (!agent || !files) return { raw: (await readFile(path)).toString('base64'), ...about };
  const { home } = context.io;
  const key = [resolve(path), size, mtimeMs, files.params?.url].join(' ');
  const onBegun = (address?: string) => void keepUpload(home, key, address);
  const part = await context.waiting((signal) =>
    context.withProgress((line) => {
      const onProgress = (progress: number, total = 0) =>
        line?.update(`Uploading ${about.filename}`, { progress, total });
      return agent.upload(path, { ...about, signal, onProgress, onBegun, resume: uploadOf(home, key) });
    }),
  );
  if (uploadOf(home, key)) onBegun();
  return part;
}

const fileOf = (url: string): string => basename(new URL(url).pathname) || 'file';

/** Media types of names that people send often. */
const inferred: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.mp4': 'video/mp4',
};

function parseData(text: string): Json {
  const value = tryJson(text);
  if (value === undefined) throw usage('--data is JSON', `For example --data '{"amount": 100}'`);
  return value as Json;
}

async function readAll(stdin: Io['stdin']): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stdin)
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
