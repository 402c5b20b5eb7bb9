import { useExplain } from '../explain.ts';
import { useSay } from './toasts.tsx';

/** Toasts for failed changes without their own form. */
export function useFailureToast(): { onError: (error: unknown) => void } {
  const say = useSay();
  const explain = useExplain();
  return { onError: (error) => say(explain(error).sentence, 'bad') };
}
