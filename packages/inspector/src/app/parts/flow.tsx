import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { QuietButton } from './bits.tsx';
import { counted } from './words.ts';

interface FlowProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly label: string;
  readonly row: (item: Item) => ComponentChildren;
}

/** Up to this many items simply stand in the page. */
const fewItems = 20;
/** So many of the last ones exist in the page until the reader asks for the earlier ones. */
const fewLast = 50;

/** Items of different heights. Many of them have a box of their own that stays at its end, and only the last ones exist. */
export function Flow<Item>({ items, keyOf, label, row }: FlowProps<Item>) {
  const frame = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const [shown, setShown] = useState(fewLast);
  useLayoutEffect(() => {
    if (frame.current && isAtEnd.current) frame.current.scrollTop = frame.current.scrollHeight;
  });
  const isLong = items.length > fewItems;
  const list = (
    <ol class="flow" aria-label={isLong ? undefined : label}>
      {items.slice(-shown).map((item) => (
        <li key={keyOf(item)} class="flow-item">
          {row(item)}
        </li>
      ))}
    </ol>
  );
  if (!isLong) return list;
  const scroll = ({ currentTarget: box }: { readonly currentTarget: HTMLElement }) => {
    isAtEnd.current = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached with the keyboard.
    <section ref={frame} class="flow-frame" aria-label={label} tabIndex={0} onScroll={scroll}>
      {items.length > shown && (
        <QuietButton onClick={() => setShown(Number.POSITIVE_INFINITY)}>
          {`${counted(items.length - shown)} earlier`}
        </QuietButton>
      )}
      {list}
    </section>
  );
}
