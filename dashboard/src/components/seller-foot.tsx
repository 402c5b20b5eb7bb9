import { useAsk } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';

/** The seller, terms and ways to get help: at the foot of every page, and where an account is suspended. */

export function useSeller() {
  return useAsk({ key: ['seller'], ask: (steyg, signal) => steyg.console.orders.seller({}, { signal }) }).data ?? null;
}

export function SellerFoot() {
  const { t } = useLanguage();
  const seller = useSeller();
  if (seller === null) return <p className="seller-foot">{t.seller.ai}</p>;
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
      <p>{t.seller.ai}</p>
    </div>
  );
}
