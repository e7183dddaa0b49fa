import type { AgentClient } from '@batonjs/client';
import type { Part } from '@batonjs/protocol';
import { FILES } from '@batonjs/protocol/headers';
import { useEffect, useRef, useState } from 'react';

/** A file on its way to the agent. `part` names it in a message, once the agent has it. */
export interface UploadedFile {
  readonly file: File;
  /** How much of it the agent has, from 0 to 1. */
  readonly progress: number;
  readonly part?: Part | undefined;
  /** Why it did not arrive: `add` it again to go on. */
  readonly error?: unknown;
}

/** Files on their way, in the order in which they were added. */
export interface UsedUpload {
  readonly files: readonly UploadedFile[];
  /** Begins with files of a field, a drop or the clipboard. */
  readonly add: (files: Iterable<File>) => void;
  /** Takes a file away, and ends its upload. */
  readonly remove: (file: File) => void;
  /** Takes all away, when their parts were sent. */
  readonly clear: () => void;
  /** The media types that the agent reads, as `accept` of a field; empty for one that reads nothing but words. */
  readonly accept: string;
}

/** So many bytes go into the message itself, where the agent takes no uploads. */
const inlineBytes = 1_048_576;

/**
 * Uploads files while the component is mounted. Where one of more than 8 MiB was left, because the page was loaded again,
 * the same file goes on when it is added again: its address is kept in `localStorage`.
 */
export function useUpload(agent: AgentClient | undefined): UsedUpload {
  const [files, setFiles] = useState<readonly UploadedFile[]>([]);
  const running = useRef(new Map<File, AbortController>());
  const remove = (file: File) => {
    running.current.get(file)?.abort();
    running.current.delete(file);
    setFiles((all) => all.filter((each) => each.file !== file));
  };
  const begin = async (file: File) => {
    const leaving = new AbortController();
    remove(file);
    running.current.set(file, leaving);
    setFiles((all) => [...all, { file, progress: 0 }]);
    const say = (news: Partial<UploadedFile>) =>
      setFiles((all) => all.map((each) => (each.file === file ? { ...each, ...news } : each)));
    await partOf(file, agent, leaving.signal, (progress) => say({ progress })).then(
      (part) => say({ progress: 1, part }),
      (error: unknown) => say({ error }),
    );
    if (running.current.get(file) === leaving) running.current.delete(file);
  };
  useEffect(() => {
    const { current } = running;
    return () => {
      for (const leaving of current.values()) leaving.abort();
    };
  }, []);
  return {
    files,
    add: (given) => Array.from(given, begin),
    remove,
    clear() {
      for (const { file } of files) remove(file);
    },
    accept: agent ? acceptedBy(agent) : '*/*',
  };
}

function acceptedBy({ card }: AgentClient): string {
  const modes = [...card.defaultInputModes, ...card.skills.flatMap(({ inputModes = [] }) => inputModes)];
  const isWords = (mode: string) => /^(text(\/plain)?|application\/json)$/.test(mode);
  return modes.every(isWords) ? '' : modes.join();
}

async function partOf(
  file: File,
  agent: AgentClient | undefined,
  signal: AbortSignal,
  onProgress: (progress: number) => void,
): Promise<Part> {
  const offered = agent?.card.capabilities?.extensions?.find(({ uri }) => uri === FILES);
  if (agent && offered) {
    const { name, size, lastModified } = file;
    const key = ['baton-upload', name, size, lastModified, offered.params?.url].join(' ');
    const part = await agent.upload(file, {
      signal,
      onProgress: (sent, total) => onProgress(total ? sent / total : 0),
      onBegun: (address) => void addressAt(key, address),
      resume: addressAt(key),
    });
    addressAt(key, '');
    return part;
  }
  if (file.size > inlineBytes) throw new RangeError('is larger than 1 MB');
  const bytes = Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte));
  return { raw: btoa(bytes.join('')), filename: file.name, ...(file.type && { mediaType: file.type }) };
}

/** Where an upload goes on that was left. `address` is kept; an empty one is forgotten. Undefined in a browser that keeps nothing. */
function addressAt(key: string, address?: string): string | undefined {
  try {
    if (address) localStorage.setItem(key, address);
    if (address === '') localStorage.removeItem(key);
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}
