import { useCallback, useEffect, useRef, useState } from 'react';

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
      // A reader who comes near the end follows it. Content that grows leads away from the end as well: only a reader goes up. One that shrinks stays at the end.
      if (distance < 2 || (scrollTop > top && distance < 48)) follows.current = true;
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
