import { useCallback, useEffect, useRef, useState } from 'react';

/** The distance from the end, in CSS pixels, at which a reader is still at the end. */
const near = 48;

/** Keeps the end of a scrolled element with one child in view while the child grows, unless the reader scrolled up. */
export function useFollowedEnd() {
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const toEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let top = 0;
    const onScroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = element;
      const distance = scrollHeight - scrollTop - clientHeight;
      // Content that grows leads away from the end as well: only a reader goes up. One that shrinks stays at the end.
      if (distance < 2 || (scrollTop > top && distance < near)) follows.current = true;
      else if (scrollTop < top) follows.current = false;
      top = scrollTop;
      setAtEnd(follows.current);
    };
    const resized = new ResizeObserver(() => follows.current && toEnd());
    for (const each of [element, ...element.children]) resized.observe(each);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => resized.disconnect();
  }, [toEnd]);
  return { scroller, isAtEnd, toEnd };
}
