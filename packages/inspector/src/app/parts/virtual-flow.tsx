import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

interface VirtualFlowProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly label: string;
  readonly row: (item: Item) => ComponentChildren;
}

/** Up to this many items simply stand in the page. */
const fewItems = 20;
/** The height of an item that was not drawn yet, in pixels. */
const likelyHeight = 33;
/** How far beyond the visible part items are drawn, in pixels. */
const overscan = 300;

/** Items of different heights. Many of them have a box of their own that stays at its end, and only the visible ones exist. */
export function VirtualFlow<Item>({ items, keyOf, label, row }: VirtualFlowProps<Item>) {
  if (items.length > fewItems) return <LongFlow items={items} keyOf={keyOf} label={label} row={row} />;
  return (
    <ol class="flow" aria-label={label}>
      {items.map((item) => (
        <li key={keyOf(item)} class="flow-item">
          {row(item)}
        </li>
      ))}
    </ol>
  );
}

function LongFlow<Item>({ items, keyOf, label, row }: VirtualFlowProps<Item>) {
  const frame = useRef<HTMLElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const heights = useRef(new Map<string, number>()).current;
  const [measured, setMeasured] = useState(0);
  const [top, setTop] = useState<number>();
  const [height, setHeight] = useState(400);
  const isAtEnd = top === undefined;
  const starts = useMemo(() => startsOf(items, keyOf, heights), [items, items.length, measured]);
  const startOf = (index: number) => starts[index] ?? 0;
  const whole = startOf(items.length);
  const from = indexAt(starts, (top ?? whole - height) - overscan);
  const until = Math.min(items.length, indexAt(starts, (top ?? whole - height) + height + overscan) + 1);

  useLayoutEffect(() => {
    if (!frame.current || !list.current) return;
    setHeight(frame.current.clientHeight);
    let isChanged = false;
    for (const [offset, element] of [...list.current.children].entries()) {
      const item = items[from + offset];
      const found = Math.round(element.getBoundingClientRect().height);
      if (item === undefined || heights.get(keyOf(item)) === found) continue;
      heights.set(keyOf(item), found);
      isChanged = true;
    }
    if (isChanged) setMeasured((count) => count + 1);
    if (isAtEnd) frame.current.scrollTop = frame.current.scrollHeight;
  });

  const scroll = () => {
    if (!frame.current) return;
    const { scrollTop, scrollHeight, clientHeight } = frame.current;
    setTop(scrollTop + clientHeight >= scrollHeight - 4 ? undefined : scrollTop);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached with the keyboard.
    <section ref={frame} class="flow-frame" aria-label={label} tabIndex={0} onScroll={scroll}>
      <ol
        ref={list}
        class="flow"
        style={{ paddingTop: `${startOf(from)}px`, paddingBottom: `${whole - startOf(until)}px` }}
      >
        {items.slice(from, until).map((item, offset) => (
          <li
            key={keyOf(item)}
            class="flow-item"
            aria-posinset={from + offset + 1}
            aria-setsize={items.length}
          >
            {row(item)}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Where each item begins, and last where all of them end, in pixels. */
function startsOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  heights: ReadonlyMap<string, number>,
): readonly number[] {
  const starts = [0];
  let end = 0;
  for (const item of items) {
    end += heights.get(keyOf(item)) ?? likelyHeight;
    starts.push(end);
  }
  return starts;
}

/** The last item that begins at or before a place. */
function indexAt(starts: readonly number[], place: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
