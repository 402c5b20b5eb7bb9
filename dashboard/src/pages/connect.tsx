/** The page with the settings of every client tool. */

import { Link } from 'wouter';
import { ConnectPanel } from '../components/connect-panel.tsx';
import { Card, Page } from '../components/page.tsx';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';

export default function Connect() {
  const { t } = useLanguage();
  return (
    <Page
      title={t.connect.title}
      lead={t.connect.lead}
      actions={
        <Link className="button" href={pages.keys}>
          {t.keys.create}
        </Link>
      }
    >
      <Card title={t.connect.tool}>
        <ConnectPanel />
      </Card>
      <Card title={t.connect.rulesTitle}>
        <ul>
          {t.connect.rules.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      </Card>
    </Page>
  );
}
