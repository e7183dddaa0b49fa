import type { AgentClient } from '@batonjs/client';
import type { Part } from '@batonjs/protocol';
import { FILES } from '@batonjs/protocol/headers';
import { useState } from 'react';
import type { ChatTexts } from './texts.ts';

/** So many bytes go into the message itself, where the agent takes no uploads. */
const inlineBytes = 1_048_576;

/** The files that go with the next message. Each begins its upload at once. */
export function useAttached(agent: AgentClient | undefined, texts: ChatTexts) {
  const [files, setFiles] = useState<readonly { file: File; part?: Part; error?: string }[]>([]);
  const add = (given: Iterable<File>) => {
    for (const file of given) {
      const settle = (settled: { part: Part } | { error: string }) =>
        setFiles((all) => all.map((each) => (each.file === file ? { file, ...settled } : each)));
      setFiles((all) => [...all, { file }]);
      partOf(file, agent, texts).then(
        (part) => settle({ part }),
        (error: unknown) => settle({ error: String(Object(error).message) }),
      );
    }
  };
  const remove = (file: File) => setFiles((all) => all.filter((each) => each.file !== file));
  return { files, add, remove, clear: () => setFiles([]), accept: agent ? acceptedBy(agent) : '*/*' };
}

export type Attached = ReturnType<typeof useAttached>;

/** The media types that an agent reads, as `accept` of a field; empty for one that reads nothing but words. */
function acceptedBy({ card }: AgentClient): string {
  const modes = [...card.defaultInputModes, ...card.skills.flatMap(({ inputModes = [] }) => inputModes)];
  const isWords = (mode: string) => /^(text(\/plain)?|application\/json)$/.test(mode);
  return modes.every(isWords) ? '' : modes.join();
}

async function partOf(file: File, agent: AgentClient | undefined, texts: ChatTexts): Promise<Part> {
  if (agent?.card.capabilities?.extensions?.some(({ uri }) => uri === FILES)) return agent.upload(file);
  if (file.size > inlineBytes) throw new Error(texts.tooLarge);
  const bytes = Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte));
  return { raw: btoa(bytes.join('')), filename: file.name, ...(file.type && { mediaType: file.type }) };
}
