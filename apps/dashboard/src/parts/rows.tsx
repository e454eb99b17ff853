import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** Only the rows in sight are in the document, each of one height, so a list of 10,000 is as quick as one of ten and never jumps. */
export const Rows = ({
  count,
  height,
  row,
  nearEnd,
}: {
  readonly count: number;
  /** Pixels of a row. */
  readonly height: number;
  readonly row: (index: number) => ComponentChildren;
  /** The last rows are nearly in sight. */
  readonly nearEnd: () => void;
}) => {
  const scrolled = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const options = {
    count,
    estimateSize: () => height,
    overscan: 12,
    getScrollElement: () => scrolled.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options));
  virtual.setOptions(options);
  // These two are what an adapter of the package calls.
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtual._willUpdate());
  useEffect(() => virtual.measure(), [virtual, height]);

  const visible = virtual.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= count - 40) nearEnd();
  }, [last, count, nearEnd]);
  return (
    <div class="rows" ref={scrolled} role="rowgroup">
      <div class="rows-all" style={{ height: `${virtual.getTotalSize()}px` }}>
        {visible.map(({ index, start }) => (
          <div key={index} class="row-place" style={{ transform: `translateY(${start}px)`, height: `${height}px` }}>
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
};
