/** How an order is paid: its QR code, the values of the transfer, and the way into a bank's app. */

import type { OrderAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { payInApp, payingApps } from '../banks.ts';
import { useMedia } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { drawPng } from '../qr.ts';
import { Button } from './button.tsx';
import { CopyButton, CopyValue } from './copy.tsx';
import { Icon } from './icon.tsx';
import { Card } from './page.tsx';
import { Banner } from './states.tsx';

type Payment = NonNullable<NonNullable<OrderAnswer>['payment']>;

export function PayByTransfer({ payment }: { payment: Payment }) {
  const { t, format } = useLanguage();
  const { bank, memo, amountVnd } = payment;
  // Some banks' forms ask for the number.
  const bankText = bank.bank === bank.bin ? bank.bin : `${bank.bank} (${bank.bin})`;
  // A phone cannot scan the code that it shows itself.
  const isPhone = useMedia('(pointer: coarse)');
  const everything = [
    `${t.order.bank}: ${bankText}`,
    `${t.order.account}: ${bank.account}`,
    `${t.order.holder}: ${bank.name}`,
    `${t.order.amount}: ${format.vnd(amountVnd)}`,
    `${t.order.memo}: ${memo}`,
  ].join('\n');
  return (
    <Card
      title={t.order.how}
      actions={<CopyButton text={everything} what={t.order.everything} label={t.order.copyAll} />}
    >
      <div className="payment">
        <div className="qr-box">
          <img
            className="qr"
            src={qrAddress(payment.qrSvg)}
            width="240"
            height="240"
            alt={fill(t.order.qr, { amount: format.vnd(amountVnd), memo })}
          />
          <SaveQr payment={payment} share={isPhone} />
        </div>
        <div className="payment-values">
          <CopyValue label={t.order.amount} text={amountVnd} shown={format.vnd(amountVnd)} />
          <CopyValue label={t.order.memo} text={memo} />
          <CopyValue label={t.order.account} text={bank.account} />
          <CopyValue label={t.order.bank} text={bankText} />
          <CopyValue label={t.order.holder} text={bank.name} />
        </div>
      </div>
      {isPhone ? <BankApps payment={payment} /> : null}
      <p className="hint">{isPhone ? t.order.phoneHint : t.order.hint}</p>
    </Card>
  );
}

const qrAddress = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

/** Browsers of desktops have no share sheet, and some share only texts. */
const canShare = (file: File): boolean => 'canShare' in navigator && navigator.canShare({ files: [file] });

/** Saves the code as a picture, which banks' apps read from the phone's photos. */
function SaveQr({ payment, share }: { payment: Payment; share: boolean }) {
  const { t } = useLanguage();
  const [failed, setFailed] = useState(false);
  const save = async () => {
    const file = new File([await drawPng(qrAddress(payment.qrSvg))], `steyg-${payment.memo}.png`, {
      type: 'image/png',
    });
    // A download does not reach the photos of an iPhone; its share sheet does.
    if (share && canShare(file)) {
      // Closing the share sheet is no failure.
      await navigator.share({ files: [file] }).catch((error: Error) => {
        if (error.name !== 'AbortError') throw error;
      });
      return;
    }
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    link.download = file.name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      <Button
        onClick={() => {
          setFailed(false);
          save().catch(() => setFailed(true));
        }}
      >
        <Icon name="save" />
        {t.order.saveQr}
      </Button>
      {failed ? <Banner tone="warn">{t.order.saveQrFailed}</Banner> : null}
    </>
  );
}

function BankApps({ payment }: { payment: Payment }) {
  const { t } = useLanguage();
  const links = payingApps.flatMap((app) => {
    const href = payInApp(app.id, payment, location.href);
    return href === null ? [] : [{ ...app, href }];
  });
  if (links.length === 0) return null;
  return (
    <nav className="bank-apps" aria-label={t.order.openApp}>
      <h3>{t.order.openApp}</h3>
      <ul>
        {links.map(({ id, name, href }) => (
          <li key={id}>
            <a className="button small" href={href} rel="noreferrer">
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
