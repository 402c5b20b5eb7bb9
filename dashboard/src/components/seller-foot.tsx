import { useAsk } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';

/** The seller, terms and ways to get help: at the foot of every page, and where an account is suspended. */

export function useSeller() {
  return useAsk({ key: ['seller'], ask: (steyg, signal) => steyg.console.orders.seller({}, { signal }) }).data ?? null;
}

export function SellerFoot() {
  const { t, locale } = useLanguage();
  const seller = useSeller();
  const ai = (
    <p>
      {t.seller.ai} <a href={`/docs/data-flow?lang=${locale}`}>{t.seller.dataFlow}</a>
    </p>
  );
  if (seller === null) return <div className="seller-foot">{ai}</div>;
  const { name, address, taxCode, supportEmail, supportPhone, termsUrl, privacyUrl, refundUrl } = seller;
  const links = [
    [termsUrl, t.seller.terms],
    [privacyUrl, t.seller.privacy],
    [refundUrl, t.seller.refund],
    [supportEmail === '' ? '' : `mailto:${supportEmail}`, supportEmail],
    [supportPhone === '' ? '' : `tel:${supportPhone.replaceAll(/[^0-9+]/g, '')}`, supportPhone],
  ].filter(([href]) => href !== '');
  const facts = [name, address, taxCode === '' ? '' : `${t.seller.taxCode}: ${taxCode}`].filter((text) => text !== '');
  return (
    <div className="seller-foot">
      {facts.length === 0 ? null : <p>{facts.join(' · ')}</p>}
      {links.length === 0 ? null : (
        <ul>
          {links.map(([href, text]) => (
            <li key={href}>
              <a href={href}>{text}</a>
            </li>
          ))}
        </ul>
      )}
      {ai}
    </div>
  );
}
