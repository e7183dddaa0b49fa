import { useEffect, useState } from 'preact/hooks';
import type { PartMembers } from '../../api/timeline.ts';
import { useAct, useMay } from '../data/session.ts';
import { Button, Icon, ProblemNote, QuietButton } from './bits.tsx';
import { RichText } from './markdown.tsx';
import { fileSize, plural } from './words.ts';

/** Parts that are shown before the reader asks for more. */
const fewParts = 50;

interface ContentProps {
  readonly parts: readonly PartMembers[];
  readonly agent: string;
}

/** The content of a message or an artifact. Adjacent chunks of text are one text. */
export function Content({ parts, agent }: ContentProps) {
  const [shown, setShown] = useState(fewParts);
  const joined = joinTexts(parts);
  return (
    <div class="content">
      {joined.slice(0, shown).map((part, index) => (
        <PartView key={index} part={part} agent={agent} />
      ))}
      {joined.length > shown && (
        <Button onClick={() => setShown(shown + 10 * fewParts)}>
          {plural(joined.length - shown, 'more part')}
        </Button>
      )}
    </div>
  );
}

function PartView({ part, agent }: { readonly part: PartMembers; readonly agent: string }) {
  const { mediaType, filename } = part;
  if (part.text !== undefined) return <RichText text={part.text} mediaType={mediaType} />;
  if (part.raw !== undefined) return <FileView base64={part.raw} mediaType={mediaType} name={filename} />;
  if (part.url !== undefined)
    return <RemoteFile url={part.url} mediaType={mediaType} name={filename} agent={agent} />;
  return <JsonView value={part.data} />;
}

function joinTexts(parts: readonly PartMembers[]): PartMembers[] {
  const joined: PartMembers[] = [];
  let texts: string[] = [];
  let about: PartMembers | undefined;
  const end = () => {
    if (about) joined.push({ ...about, text: texts.join('') });
    texts = [];
    about = undefined;
  };
  for (const part of parts) {
    if (part.text === undefined) {
      end();
      joined.push(part);
      continue;
    }
    if (about && about.mediaType !== part.mediaType) end();
    about ??= part;
    texts.push(part.text);
  }
  end();
  return joined;
}

const isPicture = (mediaType = '') => /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/.test(mediaType);
const isSound = (mediaType = '') => /^audio\/[\w.+-]+$/.test(mediaType);

interface FileProps {
  readonly mediaType?: string | undefined;
  readonly name?: string | undefined;
}

/** A file: shown if it is a picture or a sound, and to download. Another type is never opened in this page's origin. */
function FileView({ base64, mediaType, name }: FileProps & { readonly base64: string }) {
  const [url, setUrl] = useState<string>();
  const [size, setSize] = useState(0);
  useEffect(() => {
    const bytes = bytesOf(base64);
    const isShown = isPicture(mediaType) || isSound(mediaType);
    const made = URL.createObjectURL(
      new Blob([bytes], { type: isShown ? mediaType! : 'application/octet-stream' }),
    );
    setSize(bytes.length);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [base64, mediaType]);
  if (!url) return null;
  const title = name ?? 'file';
  return (
    <figure class="file">
      {isPicture(mediaType) && <img class="picture" src={url} alt={title} />}
      {/* biome-ignore lint/a11y/useMediaCaption: agents send no captions. */}
      {isSound(mediaType) && <audio controls src={url} aria-label={title} />}
      <figcaption>
        <span class="file-name">{title}</span>
        <span class="muted">{[mediaType, fileSize(size)].filter(Boolean).join(' · ')}</span>
        <a class="button button-quiet" href={url} download={safeName(title)}>
          <Icon name="download" />
          Download
        </a>
      </figcaption>
    </figure>
  );
}

/** A file on another server. It is loaded by the inspector, and only when the reader asks. */
function RemoteFile({ url, mediaType, name, agent }: FileProps & Record<'url' | 'agent', string>) {
  const mayLoad = useMay('fetch-file');
  const [loaded, setLoaded] = useState<{ mediaType: string; base64: string }>();
  const { act, problem } = useAct();
  if (loaded)
    return (
      <FileView base64={loaded.base64} mediaType={mediaType ?? loaded.mediaType} name={name ?? lastOf(url)} />
    );
  const load = async () => setLoaded(await act('/file', { agent, url }));
  return (
    <figure class="file">
      <figcaption>
        <span class="file-name">{name ?? lastOf(url)}</span>
        <span class="muted file-url">{url}</span>
        {mayLoad && (
          <QuietButton onClick={() => void load()}>
            <Icon name="download" />
            Load from {URL.parse(url)?.host ?? 'there'}
          </QuietButton>
        )}
      </figcaption>
      <ProblemNote problem={problem} />
    </figure>
  );
}

const lastOf = (url: string): string => URL.parse(url)?.pathname.split('/').findLast(Boolean) ?? url;
const safeName = (name: string): string => name.replace(/[^\w. -]/g, '_').slice(0, 100);

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** Members that are shown before the rest is unfolded. */
const most = 100;

/** JSON as a tree that can be folded. Nothing in it is taken for HTML. */
export const JsonView = ({ value, open = 2 }: { readonly value: unknown; readonly open?: number }) => (
  <div class="json">
    <Value value={value} open={open} />
  </div>
);

function Value({ value, open }: { readonly value: unknown; readonly open: number }) {
  if (typeof value === 'string') return <span class="json-text">{JSON.stringify(value)}</span>;
  if (typeof value !== 'object' || value === null) return <span class="json-plain">{String(value)}</span>;
  return <Members value={value} open={open} />;
}

function Members({ value, open }: { readonly value: object; readonly open: number }) {
  const [shown, setShown] = useState(most);
  const [isOpen, setOpen] = useState(open > 0);
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  if (members.length === 0) return <span class="json-plain">{isList ? '[]' : '{}'}</span>;
  return (
    <details class="json-members" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {isList ? '[' : '{'}
        <span class="json-count">{plural(members.length, isList ? 'item' : 'member')}</span>
        {isList ? ']' : '}'}
      </summary>
      {isOpen && (
        <ul>
          {members.slice(0, shown).map(([name, member]) => (
            <li key={name}>
              <span class="json-name">{name}</span>
              <span class="json-colon">: </span>
              <Value value={member} open={open - 1} />
            </li>
          ))}
          {members.length > shown && (
            <li>
              <QuietButton onClick={() => setShown(shown + 1_000)}>{members.length - shown} more</QuietButton>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}
