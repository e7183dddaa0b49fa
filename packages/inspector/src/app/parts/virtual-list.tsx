import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps<Item> {
  readonly items: readonly Item[];
  /** Pixels. */
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (item: Item, index: number) => ComponentChildren;
  readonly rowClass?: (item: Item, index: number) => string;
  /** The chosen row; -1 for none. */
  readonly selected: number;
  readonly onSelect: (index: number) => void;
  /** Enter on the chosen row. */
  readonly onOpen?: (index: number) => void;
  /** The end of the list is near. */
  readonly onEnd?: () => void;
  /** Whether the list stays at its end while it grows. */
  readonly isFollowing?: boolean;
  /** How many rows there are in all, also those that are not loaded. */
  readonly total?: number;
}

/** Rows that are drawn above and below the visible ones. */
const overscan = 6;

/** A list of rows of one height, of which only the visible ones exist in the page. Arrow keys, Home, End and Page keys move. */
export function VirtualList<Item>({
  items,
  rowHeight,
  label,
  row,
  rowClass,
  selected,
  onSelect,
  onOpen,
  onEnd,
  isFollowing = false,
  total,
}: VirtualListProps<Item>) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [visible, setVisible] = useState(30);
  const count = items.length;

  useLayoutEffect(() => {
    const element = frame.current!;
    const measure = () => setVisible(Math.ceil(element.clientHeight / rowHeight) + 1);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [rowHeight]);

  useLayoutEffect(() => {
    if (isFollowing) frame.current!.scrollTop = count * rowHeight;
  }, [isFollowing, count, rowHeight]);

  useLayoutEffect(() => {
    if (selected >= 0 && !isFollowing) reveal(frame.current!, selected, rowHeight);
  }, [selected, isFollowing, rowHeight]);

  useEffect(() => {
    if (onEnd && first + visible + 30 >= count) onEnd();
  }, [onEnd, first, visible, count]);

  const scroll = () => {
    const top = Math.floor(frame.current!.scrollTop / rowHeight);
    // Drawn anew only when half of the spare rows are used up.
    if (Math.abs(top - first) >= overscan / 2 || top === 0) setFirst(top);
  };

  const press = (event: KeyboardEvent) => {
    const page = Math.max(1, visible - 2);
    const moves: Record<string, number> = {
      ArrowDown: selected + 1,
      ArrowUp: selected - 1,
      PageDown: selected + page,
      PageUp: selected - page,
      Home: 0,
      End: count - 1,
    };
    if (event.key === 'Enter' && selected >= 0) onOpen?.(selected);
    const target = moves[event.key];
    if (target === undefined || count === 0) return;
    event.preventDefault();
    onSelect(Math.max(0, Math.min(count - 1, target)));
  };

  const from = Math.max(0, first - overscan);
  const until = Math.min(count, first + visible + overscan);
  const drawn = items.slice(from, until);
  // A row that leaves the page at one end comes back at the other with another content: changing is faster than creating.
  const slots = visible + 2 * overscan + 1;
  const isDrawn = selected >= from && selected < until;
  return (
    <div
      ref={frame}
      class="list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={isDrawn ? `${id}-${selected}` : undefined}
      onScroll={scroll}
      onKeyDown={press}
    >
      <div class="list-rows" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {drawn.map((item, offset) => {
          const index = from + offset;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles keys for its rows.
            <div
              key={index % slots}
              id={`${id}-${index}`}
              class={`row ${rowClass?.(item, index) ?? ''}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === selected}
              aria-posinset={index + 1}
              aria-setsize={total ?? count}
              style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
              onClick={() => {
                onSelect(index);
                onOpen?.(index);
              }}
            >
              {row(item, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function reveal(frame: HTMLElement, index: number, rowHeight: number): void {
  const top = index * rowHeight;
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (top + rowHeight > frame.scrollTop + frame.clientHeight)
    frame.scrollTop = top + rowHeight - frame.clientHeight;
}
