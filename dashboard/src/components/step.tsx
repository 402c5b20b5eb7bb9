import type { ReactNode } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Icon } from './icon.tsx';

/** One of several steps, in an ordered list of the class `steps`. */
export function Step({
  number,
  title,
  done,
  state,
  children,
}: {
  number: number;
  title: string;
  done: boolean;
  /** How a step that is done stands, beside its title: the two are one line. */
  state?: ReactNode;
  children?: ReactNode;
}) {
  const { t } = useLanguage();
  return (
    <li className={done ? 'step done' : 'step'}>
      <h2>
        <span className="step-mark" aria-hidden="true">
          {done ? <Icon name="check" /> : number}
        </span>
        {title}
        {done ? <span className="sr-only"> ({t.common.done})</span> : null}
      </h2>
      {state === undefined ? null : <p className="step-state">{state}</p>}
      {children}
    </li>
  );
}
