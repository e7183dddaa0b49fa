import type { ComponentChildren, RefObject } from 'preact';
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
  /** Makes each row a link; Enter follows that of the chosen one. */
  readonly hrefOf?: (item: Item) => string;
  /** The end of the list is near. */
  readonly onEnd?: () => void;
  /** Whether the list stays at its end while it grows. */
  readonly isFollowing?: boolean;
  /** How many rows there are in all, also those that are not loaded. */
  readonly total?: number;
  /** Lets rows be ticked, by a click or the space bar. */
  readonly ticks?: Ticks<Item> | undefined;
}

/** Which rows are ticked. */
export interface Ticks<Item> {
  readonly has: (item: Item) => boolean;
  /** `isRange`: with all rows from the one that was ticked last. */
  readonly toggle: (index: number, isRange: boolean) => void;
}

/** Rows that are drawn above and below the visible ones. */
const overscan = 6;

/** A list of rows of one height, of which only the visible ones exist in the page. Arrow keys, Home, End and Page keys move. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items, rowHeight, label, row, rowClass, selected, total, isFollowing = false } = props;
  const { onSelect, hrefOf, onEnd, ticks } = props;
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const count = items.length;
  const visible = useVisibleRows(frame, rowHeight);
  const [first, scroll] = useFirstRow(frame, rowHeight);

  usePlace(frame, { rowHeight, count, selected, isFollowing });

  const toEnd = useEnd(props);
  useEffect(() => {
    if (onEnd && first + visible + 30 >= count) onEnd();
  }, [onEnd, first, visible, count]);

  const press = (event: KeyboardEvent) => {
    const chosen = items[selected];
    if (event.key === 'Enter' && hrefOf && chosen !== undefined) location.hash = hrefOf(chosen);
    if (event.key === ' ' && ticks && chosen !== undefined) {
      event.preventDefault();
      ticks.toggle(selected, event.shiftKey);
    }
    const target = targetOf(event.key, selected, visible, count);
    if (target === undefined || count === 0) return;
    event.preventDefault();
    toEnd(event.key === 'End');
    onSelect(Math.max(0, Math.min(count - 1, target)));
  };

  const from = Math.max(0, first - overscan);
  const until = Math.min(count, first + visible + overscan);
  const drawn = items.slice(from, until);
  // A row that leaves the page at one end comes back at the other with another content: changing is faster than creating.
  // Not one of another class: Chromium may keep the colours that it had.
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
            <Slot
              key={`${index % slots} ${rowClass?.(item, index)}`}
              id={`${id}-${index}`}
              className={rowClass?.(item, index) ?? ''}
              index={index}
              rowHeight={rowHeight}
              isSelected={index === selected}
              total={total ?? count}
              href={hrefOf?.(item)}
              isTicked={ticks?.has(item)}
              onTick={(isRange) => ticks?.toggle(index, isRange)}
              onChoose={() => onSelect(index)}
            >
              {row(item, index)}
            </Slot>
          );
        })}
      </div>
    </div>
  );
}

/** `End` goes to the end of all rows: they are read page by page until it is there, or another key is pressed. */
function useEnd<Item>({ items, total = 0, onSelect, onEnd }: VirtualListProps<Item>): (is: boolean) => void {
  const [isToEnd, setToEnd] = useState(false);
  const count = items.length;
  useEffect(() => {
    if (!isToEnd) return;
    onSelect(count - 1);
    if (onEnd && count < total) onEnd();
    else setToEnd(false);
  }, [isToEnd, count]);
  return setToEnd;
}

interface SlotProps {
  readonly id: string;
  readonly className: string;
  readonly index: number;
  readonly rowHeight: number;
  readonly isSelected: boolean;
  readonly total: number;
  readonly href: string | undefined;
  readonly isTicked: boolean | undefined;
  readonly onTick: (isRange: boolean) => void;
  readonly onChoose: () => void;
  readonly children: ComponentChildren;
}

/** The place of one row: a link, or something to choose. */
function Slot(props: SlotProps) {
  const { id, className, index, rowHeight, isSelected, total, href, isTicked, onTick, onChoose } = props;
  const shared = {
    id,
    class: `row ${className}`,
    role: 'option' as const,
    tabIndex: -1,
    'aria-selected': isSelected,
    'aria-checked': isTicked,
    'aria-posinset': index + 1,
    'aria-setsize': total,
    style: { height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` },
    onClick: onChoose,
  };
  const tick = (event: MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
    onTick(event.shiftKey);
  };
  const content = (
    <>
      {props.children}
      {/* The row says whether it is ticked, and the space bar does the same. */}
      {isTicked !== undefined && <span class="tick" aria-hidden="true" onClick={tick} />}
    </>
  );
  if (href === undefined) return <div {...shared}>{content}</div>;
  return (
    <a href={href} {...shared}>
      {content}
    </a>
  );
}

type Frame = RefObject<HTMLDivElement | null>;

/** How many rows fit into the frame. */
function useVisibleRows(frame: Frame, rowHeight: number): number {
  const [visible, setVisible] = useState(30);
  useLayoutEffect(() => {
    const element = frame.current!;
    const measure = () => setVisible(Math.ceil(element.clientHeight / rowHeight) + 1);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [rowHeight]);
  return visible;
}

/** The first row that is seen, about, and the listener that keeps it. */
function useFirstRow(frame: Frame, rowHeight: number): readonly [number, () => void] {
  const [first, setFirst] = useState(0);
  const scroll = () => {
    const top = Math.floor(frame.current!.scrollTop / rowHeight);
    // Drawn again only when half of the spare rows are used up.
    if (Math.abs(top - first) >= overscan / 2 || top === 0) setFirst(top);
  };
  return [first, scroll];
}

interface Scrolled {
  readonly rowHeight: number;
  readonly count: number;
  readonly selected: number;
  readonly isFollowing: boolean;
}

/** Keeps the end of the list, or its chosen row, in the frame. */
function usePlace(frame: Frame, { rowHeight, count, selected, isFollowing }: Scrolled): void {
  useLayoutEffect(() => {
    if (isFollowing) frame.current!.scrollTop = count * rowHeight;
  }, [isFollowing, count, rowHeight]);

  useLayoutEffect(() => {
    if (selected >= 0 && !isFollowing) reveal(frame.current!, selected, rowHeight);
  }, [selected, isFollowing, rowHeight]);
}

/** The row that a key leads to, before it is held inside of the list. */
function targetOf(key: string, selected: number, visible: number, count: number): number | undefined {
  const page = Math.max(1, visible - 2);
  const moves: Record<string, number> = {
    ArrowDown: selected + 1,
    ArrowUp: selected - 1,
    PageDown: selected + page,
    PageUp: selected - page,
    Home: 0,
    End: count - 1,
  };
  return moves[key];
}

function reveal(frame: HTMLElement, index: number, rowHeight: number): void {
  const top = index * rowHeight;
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (top + rowHeight > frame.scrollTop + frame.clientHeight)
    frame.scrollTop = top + rowHeight - frame.clientHeight;
}
