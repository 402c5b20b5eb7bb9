import type { ChosenModel } from './parts.ts';

/**
 * The list of models that Codex is told to use in place of its own (`model_catalog_json`). Codex wants the instructions of an
 * agent with each model: they are those that the installed Codex has for its vendor's models, without that model's name.
 */

/** Members of an entry that are about one model of the vendor, not about how Codex works with a model. */
const ofTheVendor = [
  'additional_speed_tiers',
  'availability_nux',
  'comp_hash',
  'default_service_tier',
  'minimal_client_version',
  'model_messages',
  'service_tiers',
];
const ownName = /, an? ((?:coding )?agent) based on GPT-\d+(?:\.\d+)*(?:-\w+)*/g;

/** https://developers.openai.com/codex/config-reference: what the picker says beside each. */
const effortWords: Readonly<Record<string, string>> = {
  none: 'No reasoning',
  minimal: 'As little reasoning as possible',
  low: 'Less reasoning, sooner done',
  medium: 'A balance of speed and depth',
  high: 'Deeper reasoning',
  xhigh: 'Very deep reasoning',
  max: 'As deep as it can',
};

/** The file's content; null when Codex brings no model whose entry can be used. */
export function codexModels(bundled: string, models: readonly ChosenModel[]): string | null {
  const pattern = patternOf(bundled);
  if (pattern === null) return null;
  const entries = models.map(({ id, name, contextWindow, efforts, inputs }, index) => {
    const levels = Object.keys(effortWords).filter((effort) => efforts.includes(effort));
    return {
      ...pattern,
      slug: id,
      display_name: name,
      description: null,
      priority: index + 1,
      visibility: 'list',
      supported_in_api: true,
      upgrade: null,
      supported_reasoning_levels: levels.map((effort) => ({ effort, description: effortWords[effort] })),
      default_reasoning_level: levels.includes('medium') ? 'medium' : (levels[0] ?? null),
      support_verbosity: false,
      // Its own search among tools is a kind of tool that other vendors do not have.
      supports_search_tool: false,
      default_verbosity: null,
      ...(contextWindow === null ? {} : { context_window: contextWindow, max_context_window: contextWindow }),
      input_modalities: ['text', ...(inputs.includes('image') ? ['image'] : [])],
    };
  });
  return `${JSON.stringify({ models: entries }, null, 2)}\n`;
}

/** An entry for a model that calls one tool after the other, as every model can. */
function patternOf(bundled: string): Record<string, unknown> | null {
  let listed: unknown;
  try {
    listed = (JSON.parse(bundled) as { models?: unknown }).models;
  } catch {
    listed = undefined;
  }
  const entries = Array.isArray(listed) ? (listed as Record<string, unknown>[]) : [];
  const found = entries.find(
    (entry) =>
      typeof entry['base_instructions'] === 'string' &&
      entry['tool_mode'] == null &&
      entry['use_responses_lite'] !== true,
  );
  if (found === undefined) return null;
  const kept = Object.entries(found).filter(([name]) => !ofTheVendor.includes(name));
  const instructions = String(found['base_instructions']).replace(ownName, ', a $1');
  return { ...Object.fromEntries(kept), base_instructions: instructions };
}
