/** Tables that become cards on narrow screens. */

import type { ReactNode } from 'react';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Figures are aligned below each other. */
  figure?: boolean;
  /** The cell that names the row. */
  names?: boolean;
  /** No visible heading, for a column of buttons. */
  silentHead?: boolean;
  /**
   * Where it stands in a row of two lines on a narrow screen: title and side above; start, middle and end below, where
   * a mark takes the end of a row that is not fine. With slots on all columns a row is two lines instead of a card.
   */
  slot?: 'title' | 'side' | 'start' | 'middle' | 'end' | 'mark';
  /** The sort key when the heading is pressed. */
  sortsBy?: string;
}

/** The present order of a list, and the callback for another one. */
export interface Sorting {
  by: string;
  ascending: boolean;
  onSort: (by: string) => void;
}

/** A table; on narrow screens each row is a card, with the heads before the cells. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  rowClass,
  showCaption = false,
  bounded = false,
  sorting,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row, index: number) => string;
  rowClass?: (row: Row) => string;
  showCaption?: boolean;
  /** Scrolls within itself above half the window's height, because other content stands below. */
  bounded?: boolean;
  /** Left out: headings cannot be pressed. */
  sorting?: Sorting | undefined;
}) {
  return (
    // Scrollable content must be reachable by keyboard. No landmark: the card around it often is one, of the same name.
    <div
      className={['table-scroll', bounded ? 'bounded' : '', columns.every(({ slot }) => slot) ? 'lines' : '']
        .join(' ')
        .trim()}
      tabIndex={0}
      role="group"
      aria-label={caption}
    >
      <table className={sorting === undefined ? '' : 'sortable'}>
        <caption className={showCaption ? '' : 'sr-only'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, figure, silentHead, sortsBy }) =>
              sorting !== undefined && sortsBy !== undefined ? (
                <SortingHead key={head} head={head} figure={figure === true} by={sortsBy} sorting={sorting} />
              ) : (
                <th key={head} scope="col" className={figure === true ? 'figure' : ''}>
                  {silentHead === true ? <span className="sr-only">{head}</span> : head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={rowKey(row, index)} className={rowClass?.(row)}>
              {columns.map(({ head, cell, figure, names, silentHead, slot }) => {
                const Cell = names === true ? 'th' : 'td';
                return (
                  <Cell
                    key={head}
                    {...(names === true ? { scope: 'row' } : {})}
                    className={figure === true ? 'figure' : ''}
                    data-slot={slot}
                    data-head={silentHead === true ? undefined : head}
                  >
                    {/* One box, so that a folded row has two columns: the head and all of the cell. */}
                    <div>{cell(row)}</div>
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SortingHead({ head, figure, by, sorting }: { head: string; figure: boolean; by: string; sorting: Sorting }) {
  const way = sorting.by !== by ? 'none' : sorting.ascending ? 'ascending' : 'descending';
  return (
    <th scope="col" className={figure ? 'figure' : ''} aria-sort={way}>
      <button type="button" className="sort" onClick={() => sorting.onSort(by)}>
        {head}
        <span aria-hidden="true">{{ none: '↕', ascending: '↑', descending: '↓' }[way]}</span>
      </button>
    </th>
  );
}
