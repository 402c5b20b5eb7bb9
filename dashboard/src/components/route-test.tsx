import type { Success, TestRouteAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { useChange } from '../data.tsx';
import { fill, useOperatorLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { useFailureToast } from './failure-toast.ts';
import { TestBadge } from './test-badge.tsx';

/** Tests a route with the smallest request and shows the result. */
export function RouteTestButton({ id, name }: { id: string; name: string }) {
  const { t } = useOperatorLanguage();
  const failure = useFailureToast();
  const [result, setResult] = useState<Success<TestRouteAnswer> | null>(null);
  const test = useChange({
    change: (steyg, routeId: string) => steyg.console.operator.testRoute({ id: routeId }),
    done: setResult,
  });
  return (
    <div className="row-actions wrap">
      <Button
        takes="testRoute"
        small
        busy={test.isPending}
        aria-label={fill(t.operator.testWhat, { name })}
        onClick={() => test.mutate(id, failure)}
      >
        {t.operator.test}
      </Button>
      <TestBadge result={result} />
    </div>
  );
}
