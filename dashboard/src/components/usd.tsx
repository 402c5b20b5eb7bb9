import { useLanguage } from '../language/language.tsx';

/** An amount on a tile or beside a meter, in one line; pointing at it shows the amount to its last digit. */
export function Usd({ amount }: { amount: string }) {
  const { format } = useLanguage();
  return (
    <span className="usd" title={format.usdExact(amount)}>
      {format.usdTile(amount)}
    </span>
  );
}
