import type { ModelsAnswer } from '@steyg/sdk';
import { chooseModels, connect, type ToolName, tools } from '@steyg/sdk/connect';
import { useMemo, useState } from 'react';
import { useAsk, useOrigin } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { ConnectionView, catalogOf } from './connect-panel.tsx';
import { Choice } from './field.tsx';
import { Empty, Loaded, LoadingSkeleton } from './states.tsx';

/** The list of tools with their settings, for visitors. */
export default function ToolPanel() {
  const { t } = useLanguage();
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  return (
    <Loaded query={models} skeleton={<LoadingSkeleton lines={6} />}>
      {(list) => (list.length === 0 ? <Empty title={t.models.empty} /> : <Tools models={list} />)}
    </Loaded>
  );
}

function Tools({ models }: { models: NonNullable<ModelsAnswer> }) {
  const { t } = useLanguage();
  const [tool, setTool] = useState<ToolName>('claude-code');
  const baseUrl = `${useOrigin()}/api`;
  const connections = useMemo(() => {
    const catalog = catalogOf(models);
    const choice = chooseModels(catalog);
    return new Map(tools.map((name) => [name, connect({ tool: name, models: choice, catalog, baseUrl })]));
  }, [models, baseUrl]);
  const shown = connections.get(tool);
  return (
    <div className="connect">
      <Choice
        label={t.connect.tool}
        value={tool}
        options={[...connections].map(([value, { title }]) => ({ value, label: title }))}
        onChange={(value) => setTool(value as ToolName)}
      />
      {shown === undefined ? null : <ConnectionView connection={shown} brief />}
    </div>
  );
}
