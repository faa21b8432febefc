/**
 * A table of rows that may be many: beyond a hundred only those in sight are in the page. At phone width a row is a card. A row with an address is
 * a link as a whole; j and k go down and up, Enter opens.
 */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { navigate } from "../router.ts";

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** A track of a CSS grid: "120px", "minmax(0, 1fr)", "max-content" does not line up. */
  readonly width: string;
  /** Set at the end of its column, as figures are. */
  readonly number?: boolean;
  /** On a card its value stands without its name. */
  readonly plain?: boolean;
}

export interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Where a row leads. */
  readonly href?: (row: Row) => string | null;
  /** Shown below the rows, as a button for older ones. */
  readonly children?: ComponentChildren;
}

/** So many rows are drawn as they are. */
const PLAIN_ROWS = 100;
const ROW_HEIGHT = 41;
const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1 };

export function DataTable<Row>({ label, columns, rows, keyOf, href, children }: DataTableProps<Row>) {
  const scroll = useRef<HTMLDivElement>(null);
  const isVirtual = rows.length > PLAIN_ROWS;
  const [current, setCurrent] = useState<string | null>(null);
  const virtual = useVirtual(isVirtual ? rows.length : 0, scroll);
  // A list that has outgrown the page gets a frame of its own. It is read on in it from where it was.
  const plainRows = useRef(0);
  useLayoutEffect(() => {
    if (isVirtual && plainRows.current > 0) virtual?.scrollToIndex(plainRows.current - 1, { align: "start" });
    plainRows.current = isVirtual ? 0 : rows.length;
  }, [isVirtual, rows.length, virtual]);
  const tracks = { "--columns": columns.map(({ width }) => width).join(" ") };

  useEffect(() => {
    if (href === undefined) return;
    const step = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, select, dialog") !== null || event.ctrlKey || event.metaKey || event.altKey)
        return;
      const at = rows.findIndex((row) => keyOf(row) === current);
      const by = STEPS[event.key];
      if (by !== undefined && rows.length > 0) {
        const next = Math.min(Math.max(at + by, 0), rows.length - 1);
        const key = keyOf(rows[next]!);
        setCurrent(key);
        if (isVirtual) virtual?.scrollToIndex(next);
        // A row that was out of sight is drawn first.
        const link = linkOf(key);
        if (link !== null) link.focus();
        else requestAnimationFrame(() => linkOf(key)?.focus());
      }
      const place = at < 0 ? null : href(rows[at]!);
      if (event.key === "Enter" && place !== null && target.closest("a, button") === null) navigate(place);
    };
    document.addEventListener("keydown", step);
    return () => document.removeEventListener("keydown", step);
  }, [rows, current, href, keyOf, isVirtual, virtual]);

  const drawRow = (row: Row, index: number, item?: VirtualItem) => {
    const place = href?.(row) ?? null;
    return (
      <div
        key={keyOf(row)}
        id={`row-${keyOf(row)}`}
        role="row"
        tabIndex={-1}
        aria-rowindex={index + 2}
        class={keyOf(row) === current ? "data-row current" : "data-row"}
        {...(item === undefined
          ? {}
          : {
              "data-index": index,
              ref: (element: HTMLDivElement | null) => virtual?.measureElement(element),
              style: { transform: `translateY(${item.start}px)` },
            })}
      >
        {columns.map((column, at) => (
          <div key={column.head} role="cell" class={column.number ? "number" : ""}>
            {!column.plain && <span class="data-label">{column.head}</span>}
            {at === 0 && place !== null ? (
              <a class="data-link" href={place} aria-describedby={`row-${keyOf(row)}`}>
                {column.cell(row)}
              </a>
            ) : (
              column.cell(row)
            )}
          </div>
        ))}
      </div>
    );
  };

  return (
    <div class="data" style={tracks}>
      <div
        ref={scroll}
        class={isVirtual ? "data-scroll bounded" : "data-scroll"}
        role="table"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        tabIndex={isVirtual ? 0 : -1}
      >
        <div role="row" class="data-row data-head" aria-rowindex={1}>
          {columns.map(({ head, number }) => (
            <div key={head} role="columnheader" class={number ? "number" : ""}>
              {head}
            </div>
          ))}
        </div>
        <div
          class={isVirtual ? "data-body virtual" : "data-body"}
          role="rowgroup"
          {...(isVirtual && virtual !== null ? { style: { blockSize: `${virtual.getTotalSize()}px` } } : {})}
        >
          {isVirtual
            ? virtual?.getVirtualItems().map((item) => {
                const row = rows[item.index];
                return row === undefined ? null : drawRow(row, item.index, item);
              })
            : rows.map((row, index) => drawRow(row, index))}
        </div>
      </div>
      {children && <div class="more">{children}</div>}
    </div>
  );
}

function linkOf(key: string): HTMLAnchorElement | null {
  return document.getElementById(`row-${key}`)?.querySelector<HTMLAnchorElement>("a.data-link") ?? null;
}

function useVirtual(
  count: number,
  scroll: RefObject<HTMLDivElement | null>,
): Virtualizer<HTMLDivElement, HTMLDivElement> | null {
  const [, draw] = useReducer((turn: number) => turn + 1, 0);
  const [virtual] = useState(
    () => new Virtualizer<HTMLDivElement, HTMLDivElement>(optionsOf(count, scroll, () => draw(0))),
  );
  virtual.setOptions(optionsOf(count, scroll, () => draw(0)));
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => {
    virtual._willUpdate();
  });
  return count === 0 ? null : virtual;
}

function optionsOf(count: number, scroll: RefObject<HTMLDivElement | null>, onChange: () => void) {
  return {
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange,
  };
}
