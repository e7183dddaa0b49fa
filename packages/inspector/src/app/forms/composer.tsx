import type { Json, Part, Struct } from '@batonjs/protocol';
import { useState } from 'preact/hooks';
import type { Sent } from '../../api/command.ts';
import { agentPath } from '../data/api.ts';
import { useAct } from '../data/session.ts';
import { ActButton, Icon, Mistake, ProblemNote, RemoveButton } from '../parts/bits.tsx';
import { fileSize } from '../parts/words.ts';

/** Where a message goes. */
export interface Destination {
  readonly agent: string;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly references?: readonly string[] | undefined;
}

/** Sends messages. Each send resolves to whether it went well. */
export function useSend({ agent, ...destination }: Destination, onSent: (sent: Sent) => void) {
  const { act, ...state } = useAct();
  const send = async (parts: readonly Part[], metadata?: Struct): Promise<boolean> => {
    const sent = await act<Sent>(agentPath(agent, 'messages'), { ...destination, parts, metadata });
    if (sent) onSent(sent);
    return sent !== undefined;
  };
  return { send, ...state };
}

interface ComposerProps extends Destination {
  readonly label: string;
  readonly placeholder?: string;
  readonly initial?: string;
  readonly onSent: (sent: Sent) => void;
}

/** Writes a message: text, JSON and files. */
export function Composer({ label, placeholder, initial = '', onSent, ...destination }: ComposerProps) {
  const [text, setText] = useState(initial);
  const [json, setJson] = useState<string>();
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const [mistake, setMistake] = useState<string>();
  const { send, isBusy, problem } = useSend(destination, onSent);

  const submit = async (event: Event) => {
    event.preventDefault();
    const parts: Part[] = text.trim() === '' ? [] : [{ text }];
    if (json !== undefined && json.trim() !== '') {
      try {
        parts.push({ data: JSON.parse(json) as Json });
      } catch {
        return setMistake('The data is no JSON.');
      }
    }
    parts.push(...files.map(({ part }) => part));
    if (parts.length === 0) return setMistake('A message needs text, data or a file.');
    setMistake(undefined);
    if (!(await send(parts))) return;
    setText('');
    setJson(undefined);
    setFiles([]);
  };
  const attach = async (list: FileList | null) =>
    setFiles([...files, ...(await Promise.all([...(list ?? [])].map(toPart)))]);

  return (
    <form class="composer" onSubmit={(event) => void submit(event)}>
      <label class="composer-text">
        <span class="visually-hidden">{label}</span>
        <textarea
          rows={3}
          placeholder={placeholder ?? label}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit(event);
          }}
        />
      </label>
      {json !== undefined && <JsonField json={json} onJson={setJson} />}
      <Files files={files} onFiles={setFiles} />
      <Mistake text={mistake} />
      <ProblemNote problem={problem} />
      <Tools
        hasData={json !== undefined}
        isBusy={isBusy}
        onAttach={(list) => void attach(list)}
        onData={() => setJson(json === undefined ? '{}' : undefined)}
      />
    </form>
  );
}

interface Attached {
  readonly part: Part;
  readonly size: number;
}

const JsonField = ({ json, onJson }: { readonly json: string; readonly onJson: (json: string) => void }) => (
  <label class="composer-text">
    <span class="field-name">Data, as JSON</span>
    <textarea
      class="mono"
      rows={5}
      value={json}
      spellcheck={false}
      onInput={(event) => onJson(event.currentTarget.value)}
    />
  </label>
);

interface FilesProps {
  readonly files: readonly Attached[];
  readonly onFiles: (files: readonly Attached[]) => void;
}

function Files({ files, onFiles }: FilesProps) {
  if (files.length === 0) return null;
  return (
    <ul class="chips">
      {files.map(({ part, size }, index) => (
        <li key={`${part.filename} ${index}`} class="chip">
          {part.filename} · {fileSize(size)}
          <RemoveButton
            class="chip-remove"
            label={`Remove ${part.filename}`}
            onClick={() => onFiles(files.toSpliced(index, 1))}
          />
        </li>
      ))}
    </ul>
  );
}

interface ToolsProps {
  readonly hasData: boolean;
  readonly isBusy: boolean;
  readonly onAttach: (files: FileList | null) => void;
  readonly onData: () => void;
}

const Tools = ({ hasData, isBusy, onAttach, onData }: ToolsProps) => (
  <div class="composer-tools">
    <label class="button button-quiet file-button">
      Attach files
      <input
        type="file"
        multiple
        class="visually-hidden"
        onChange={(event) => onAttach(event.currentTarget.files)}
      />
    </label>
    <button type="button" class="button button-quiet" aria-pressed={hasData} onClick={onData}>
      Add data
    </button>
    <span class="spacer" />
    <ActButton type="submit" kind="main" disabled={isBusy}>
      <Icon name="send" />
      {isBusy ? 'Sending …' : 'Send'}
    </ActButton>
  </div>
);

async function toPart(file: File): Promise<Attached> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let from = 0; from < bytes.length; from += 8_192)
    binary += String.fromCharCode(...bytes.subarray(from, from + 8_192));
  const mediaType = file.type || 'application/octet-stream';
  return { part: { raw: btoa(binary), filename: file.name, mediaType }, size: file.size };
}
