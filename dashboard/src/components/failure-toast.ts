import { useExplain } from '../explain.ts';
import { useSay } from './toasts.tsx';

/** For changes without a form to stand in: what went wrong is said for a moment. */
export function useFailureToast(): { onError: (error: unknown) => void } {
  const say = useSay();
  const explain = useExplain();
  return { onError: (error) => say(explain(error).sentence, 'bad') };
}
