import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, QuietButton } from './bits.tsx';
import { plural } from './words.ts';

/** Plain text beyond this length, in characters, shows its beginning and its end: laying it out takes long. */
const cutText = 8_000;
const shownStart = 5_000;
const shownEnd = 1_000;

/** Text beyond this length, in characters, is rendered only when the reader asks. */
const longText = 20_000;

/** Whether a text was probably written as Markdown. */
const looksLikeMarkdown = (text: string): boolean =>
  text.length < longText &&
  /^(#{1,6} |[-*] |\d+\. |> |```|\|.*\|)|\*\*[^*\s]|\[[^\]\n]{1,200}\]\(/m.test(text);

interface RichTextProps {
  readonly text: string;
  readonly mediaType?: string | undefined;
}

/** A text of an agent, as Markdown if it is such. */
export function RichText({ text, mediaType }: RichTextProps) {
  const canRender = mediaType === 'text/markdown' || (mediaType === undefined && looksLikeMarkdown(text));
  const [isRendered, setRendered] = useState(canRender && text.length < longText);
  if (!canRender) return <PlainText text={text} />;
  return (
    <div class="rich-text">
      {isRendered ? <Markdown text={text} /> : <PlainText text={text} />}
      <QuietButton class="rich-text-toggle" onClick={() => setRendered(!isRendered)}>
        {isRendered ? 'Show source' : 'Show as Markdown'}
      </QuietButton>
    </div>
  );
}

function PlainText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= cutText)
    return (
      <p class="plain-text" dir="auto">
        {text}
      </p>
    );
  const left = text.length - shownStart - shownEnd;
  return (
    <div class="content">
      <p class="plain-text" dir="auto">
        {text.slice(0, shownStart)}
      </p>
      <Button class="between-text" onClick={() => setWhole(true)}>
        {plural(left, 'more character')}
      </Button>
      <p class="plain-text" dir="auto">
        {text.slice(-shownEnd)}
      </p>
    </div>
  );
}

/** Markdown without scripts, styles, forms and pictures: the rest cannot load or run anything. */
function Markdown({ text }: { readonly text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isGone = false;
    // Loaded when the first text needs it: the first page stays small.
    void import('./safe-html.ts').then(({ renderMarkdown }) => {
      if (!isGone) place.current?.replaceChildren(renderMarkdown(text));
    });
    return () => {
      isGone = true;
    };
  }, [text]);
  return <div ref={place} class="markdown" dir="auto" />;
}
