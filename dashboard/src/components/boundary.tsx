import { Component, type ReactNode } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { Banner } from './states.tsx';

/**
 * The error boundary of pages. After a new version of the service, a part of the old page may be missing: reloading
 * solves it.
 */
export class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const { t } = useLanguage();
  return (
    <Banner tone="bad" action={<Button onClick={() => location.reload()}>{t.common.reload}</Button>}>
      <p>{t.common.broken}</p>
    </Banner>
  );
}
