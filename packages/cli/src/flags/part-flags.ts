import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Json, Part } from '@batonjs/protocol';
import { tryJson } from '@batonjs/protocol/json';
import { type Command, Option } from 'commander';
import { usage } from '../errors/cli-error.ts';
import type { Io } from '../io.ts';

/** One part flag as it stands on the command line. */
interface GivenPart {
  readonly kind: 'text' | 'file' | 'data';
  readonly value: string;
  mediaType?: string;
}

const given = new WeakMap<Command, GivenPart[]>();

/** Adds the flags for the parts of a message. Their order on the command line is the order of the parts. */
export function addPartFlags(command: Command): Command {
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
export async function partsOf(
  command: Command,
  text: string | undefined,
  io: Pick<Io, 'stdin'>,
): Promise<Part[]> {
  const parts: Part[] = text === undefined ? [] : [{ text }];
  for (const part of given.get(command) ?? []) parts.push(await toPart(part, io));
  if (parts.length === 0)
    throw usage('There is nothing to send', 'Give a text, or one of --text, --file and --data');
  return parts;
}

async function toPart({ kind, value, mediaType }: GivenPart, io: Pick<Io, 'stdin'>): Promise<Part> {
  const named = mediaType === undefined ? {} : { mediaType };
  if (kind === 'text') return { text: value, ...named };
  if (kind === 'data') return { data: parseData(value === '-' ? await readAll(io.stdin) : value), ...named };
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return { url: value, filename: fileOf(value), ...named };
  const bytes = await readFile(value).catch((cause) => {
    throw usage(`The file ${value} cannot be read: ${cause.code}`);
  });
  return {
    raw: bytes.toString('base64'),
    filename: basename(value),
    mediaType: mediaType ?? inferred[extname(value).toLowerCase()] ?? 'application/octet-stream',
  };
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
