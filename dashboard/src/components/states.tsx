import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useExplain } from '../explain.ts';
import { useLanguage } from '../language/language.tsx';
import { useIsRefused } from '../patience.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/** The states of a part of a page without data: loading, empty, failed. */

/** Grey blocks for a moment; when it takes longer, it says why, and can be asked again at once. */
export function LoadingSkeleton({ lines = 3, height }: { lines?: number; height?: string }) {
  const { t } = useLanguage();
  return (
    <div className="skeleton" role="status" aria-label={t.common.loading}>
      <LateNote />
      {height === undefined ? (
        Array.from({ length: lines }, (_, index) => (
          <span key={index} style={{ width: `${96 - ((index * 17) % 40)}%` }} />
        ))
      ) : (
        <span style={{ height, width: '100%' }} />
      )}
    </div>
  );
}

/** Where a table will be: rows of four columns, of the same height. */
export function TableSkeleton({ rows = 8 }: { rows?: number }) {
  return <Shape name="rows" blocks={rows} parts={4} />;
}

/** Where figures will be: so many tiles with a name and an amount. */
export function FiguresSkeleton({ figures = 4 }: { figures?: number }) {
  return <Shape name="tiles" blocks={figures} parts={2} />;
}

function Shape({ name, blocks, parts }: { name: 'rows' | 'tiles'; blocks: number; parts: number }) {
  const { t } = useLanguage();
  return (
    <div className={`skeleton ${name}`} role="status" aria-label={t.common.loading}>
      <LateNote />
      {Array.from({ length: blocks }, (_block, index) => (
        <div key={index} className="shape">
          {Array.from({ length: parts }, (_part, at) => (
            <span key={at} />
          ))}
        </div>
      ))}
    </div>
  );
}

const lateMs = 5_000;

function LateNote() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const isRefused = useIsRefused();
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), lateMs);
    return () => clearTimeout(timer);
  }, []);
  if (!isRefused && !isLate) return null;
  return (
    <div className="row-line">
      <p>{isRefused ? t.common.busyNow : t.common.slow}</p>
      <Button
        small
        onClick={() =>
          void queries.refetchQueries({ predicate: ({ state }) => state.data === undefined, type: 'active' })
        }
      >
        {t.common.retry}
      </Button>
    </div>
  );
}

/** A failure: the message, the id to quote, the required action, and a retry. */
export function FailureNotice({ error, retry, action }: { error: unknown; retry?: () => void; action?: ReactNode }) {
  const { t } = useLanguage();
  const { sentence, requestId } = useExplain()(error);
  return (
    <div className="banner bad" role="alert">
      <Icon name="alert" />
      <div>
        <p>{sentence}</p>
        {requestId === null ? null : (
          <p className="hint">
            {t.common.requestId}: <code>{requestId}</code>
          </p>
        )}
      </div>
      {action}
      {retry === undefined ? null : (
        <Button small onClick={retry}>
          {t.common.retry}
        </Button>
      )}
    </div>
  );
}

export function Banner({
  tone = 'info',
  icon = 'alert',
  children,
  action,
}: {
  tone?: 'info' | 'warn' | 'bad' | 'good';
  icon?: IconName;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={`banner ${tone}`} role={tone === 'bad' || tone === 'warn' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div>{children}</div>
      {action}
    </div>
  );
}

/** Empty: says what to do next. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children === undefined ? null : <p>{children}</p>}
      {action}
    </div>
  );
}

/**
 * The three states of a query. Present data stays during a refetch and when that fails: then the failure stands above
 * it.
 */
export function Loaded<T>({
  query,
  skeleton,
  children,
}: {
  query: { data: T | undefined; error: unknown; isPaused: boolean; refetch: () => unknown };
  skeleton?: ReactNode;
  children: (data: NonNullable<T>) => ReactNode;
}) {
  const { t } = useLanguage();
  const { data, error, isPaused } = query;
  const retry = () => void query.refetch();
  if (data !== undefined && data !== null) {
    return (
      <>
        {error === null ? null : <FailureNotice error={error} retry={retry} />}
        {children(data)}
      </>
    );
  }
  if (error !== null) return <FailureNotice error={error} retry={retry} />;
  if (isPaused) return <Banner icon="offline">{t.common.waitingForNetwork}</Banner>;
  // The server answers with null for missing objects and for those of other accounts.
  if (data === null) return <Empty title={t.common.notFound} />;
  return skeleton ?? <LoadingSkeleton />;
}

/** Loads the rest of a list. */
export function More({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  const { t } = useLanguage();
  if (!query.hasNextPage) return null;
  return (
    <div className="more">
      <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {t.common.more}
      </Button>
    </div>
  );
}
