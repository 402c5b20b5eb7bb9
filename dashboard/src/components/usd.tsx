import { useLanguage } from '../language/language.tsx';

/** An amount in one line, exact on hover. */
export function Usd({ amount }: { amount: string }) {
  const { format } = useLanguage();
  return (
    <span className="usd" title={format.usdExact(amount)}>
      {format.usdTile(amount)}
    </span>
  );
}
