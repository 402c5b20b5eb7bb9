import { fill, useLanguage } from '../language/language.tsx';
import { endLook } from '../looking.ts';
import { Button } from './button.tsx';
import { Banner } from './states.tsx';

/** Says that an operator sees the pages of a customer, and until when. */
export default function LookBanner({ account, until }: { account: string; until: string }) {
  const { t, format } = useLanguage();
  return (
    <Banner
      tone="warn"
      action={
        <Button small onClick={endLook}>
          {t.look.end}
        </Button>
      }
    >
      {fill(t.look.banner, { account, time: format.time(until) })}
    </Banner>
  );
}
