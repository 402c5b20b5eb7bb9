/** A page with its title, and small parts that pages share. */

import { type ReactNode, useEffect, useRef } from 'react';
import { forgetHistoryAge, useHistoryAge } from '../history-age.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { Icon } from './icon.tsx';

/** Set once the first page was shown: later pages are navigations, which move the focus. */
const navigation = { happened: false };

/** A page: its title is the window's, and takes the focus after a navigation. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Steyg`;
  }, [title]);
  useEffect(() => {
    if (navigation.happened) heading.current?.focus({ preventScroll: true });
    navigation.happened = true;
    window.scrollTo(0, 0);
  }, []);
  return (
    <>
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead === undefined ? null : <p className="lead">{lead}</p>}
          <HistoryAge />
        </div>
        {actions === undefined ? null : <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** Says that history came from a replica, and how far that is behind at most. */
function HistoryAge() {
  const { t, format } = useLanguage();
  const age = useHistoryAge();
  useEffect(() => forgetHistoryAge, []);
  return age === null ? null : <p className="hint">{fill(t.common.historyAge, { n: format.number(age) })}</p>;
}

/** Terms with their values, one below another. */
export function FactList({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="sums">
      {rows.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Card({
  title,
  actions,
  children,
  className = '',
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`card ${className}`} {...(title === undefined ? {} : { 'aria-label': title })}>
      {title === undefined ? null : (
        <header>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

/** Parts of a page that are folded, one below another. */
export function Folds({ children }: { children: ReactNode }) {
  return <div className="folds">{children}</div>;
}

/** A part that few people open a page for: a line with its name and how it stands, and the part itself once it is pressed. */
export function Fold({
  title,
  state,
  inForm = false,
  place,
  children,
}: {
  title: string;
  /** In one line; left out while it is not known. */
  state?: ReactNode;
  /** Among the fields of a form rather than among the parts of a page. */
  inForm?: boolean;
  /** What stands behind the `#` of an address that leads to it: it begins open then, and in sight. */
  place?: string;
  children: ReactNode;
}) {
  const Heading = inForm ? 'h3' : 'h2';
  const isAim = place !== undefined && location.hash === `#${place}`;
  const part = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    // After the page around it, which goes to its top.
    if (isAim) requestAnimationFrame(() => part.current?.scrollIntoView());
  }, [isAim]);
  const details = (
    <details ref={part} open={isAim}>
      <summary>
        <Heading>{title}</Heading>
        <span className="fold-state">{state}</span>
        <Icon name="next" />
      </summary>
      <div className="fold-body">{children}</div>
    </details>
  );
  return inForm ? (
    <div className="fold">{details}</div>
  ) : (
    <section className="fold" aria-label={title}>
      {details}
    </section>
  );
}

/** A figure with its label. */
export function Figure({
  label,
  value,
  note,
  tone,
}: {
  label: string;
  value: ReactNode;
  note?: ReactNode;
  tone?: 'bad' | 'warn' | 'good';
}) {
  return (
    <div className={`figure-box ${tone ?? ''}`}>
      <dt>{label}</dt>
      <dd>
        {value}
        {note === undefined ? null : <span className="note">{note}</span>}
      </dd>
    </div>
  );
}

/** The tone of a state. `usual`: text without a colour, so that what is not as usual stands out. */
export type Tone = 'usual' | 'plain' | 'good' | 'warn' | 'bad';

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** A user-defined name: cut to one line in a table, complete on hover. */
export function Clipped({ text }: { text: string }) {
  return (
    <span className="clipped" title={text}>
      {text}
    </span>
  );
}
