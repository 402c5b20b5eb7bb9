import { profileOf } from '../../catalog/profiles/profiles.ts';
import type { ProfileId } from '../../core/profile.ts';
import { isParsableError } from '../../wire/envelope.ts';

/**
 * Vendor errors whose HTTP status is misleading: trouble with the operator's key, funds or model names as a 400 or 429,
 * refused content as a 403, and faults of the request as a 500.
 *
 * A wording is matched from its beginning and never inside a sentence, because vendors quote customers' text.
 */

export type VendorTrouble =
  /** The operator's key or account is not accepted. */
  | 'key'
  /** The operator's account at the vendor has no money left. */
  | 'funds'
  /** The vendor does not know the catalog's name for the model. */
  | 'model'
  /** The vendor's moderation refused the customer's content. */
  | 'content'
  /** The request cannot be served there as it is, which clients have to be told. */
  | 'request';

/** A vendor's error, normalised from its different shapes. */
export interface ReportedError {
  message: string;
  /** `code` and `type` of the error, and of the object around it; as text. */
  codes: readonly string[];
}

interface Wording {
  vendor: string;
  statuses: readonly number[];
  means: VendorTrouble;
  /** One of the error's codes or types. */
  code?: string;
  /** A capture group, if any, must equal our name for the model. */
  message?: RegExp;
  /** Where this wording was recorded. */
  source: string;
}

export const vendorWordings: readonly Wording[] = [
  {
    vendor: 'Anthropic',
    statuses: [400],
    means: 'funds',
    message: /^Your credit balance is too low to access the Anthropic API/,
    source: 'https://github.com/anthropics/claude-code/issues/66314',
  },
  {
    vendor: 'Anthropic',
    statuses: [400],
    means: 'key',
    message: /^This organization has been disabled\./,
    source: 'https://github.com/anthropics/claude-code/issues/19028',
  },
  {
    vendor: 'xAI',
    statuses: [400],
    means: 'key',
    message: /^Incorrect API key provided/,
    source: 'https://github.com/openai/codex/issues/1352',
  },
  {
    vendor: 'xAI',
    statuses: [403, 429],
    means: 'funds',
    message: /^Your team \S+ has either used all available credits or reached its monthly spending limit/,
    source: 'https://github.com/warpdotdev/warp/issues/14863',
  },
  {
    vendor: 'xAI',
    statuses: [403],
    means: 'funds',
    message: /^Your newly created teams? doesn't have any credits/,
    source: 'https://github.com/continuedev/continue/issues/12670',
  },
  {
    vendor: 'xAI',
    statuses: [403],
    means: 'content',
    message: /^Content violates usage guidelines/,
    source: 'https://github.com/theopenco/llmgateway/pull/1785',
  },
  {
    vendor: 'Google',
    statuses: [400],
    means: 'key',
    message: /^API key not valid\. Please pass a valid API key\./,
    source: 'https://github.com/cequence-io/openai-scala-client/issues/109',
  },
  {
    vendor: 'OpenAI',
    statuses: [400],
    means: 'funds',
    code: 'billing_hard_limit_reached',
    source: 'https://github.com/dfinke/PowerShellAI/issues/127',
  },
  {
    vendor: 'OpenAI',
    statuses: [429],
    means: 'funds',
    code: 'insufficient_quota',
    source: 'https://github.com/Pythagora-io/gpt-pilot/issues/340',
  },
  {
    vendor: 'OpenAI',
    statuses: [400],
    means: 'model',
    message: /^The requested model '([^']+)' does not exist/,
    source: 'https://github.com/skorokithakis/sysaidmin/issues/9',
  },
  {
    vendor: 'OpenAI',
    statuses: [400, 404],
    means: 'model',
    message: /^The model `?([^\s`]+)`? does not exist or you do not have access to it/,
    source: 'https://github.com/qx-labs/agents-deep-research/issues/7',
  },
  {
    vendor: 'Alibaba',
    statuses: [400],
    means: 'funds',
    code: 'Arrearage',
    source: 'https://github.com/hsliuping/TradingAgents-CN/issues/170',
  },
  {
    vendor: 'DeepSeek',
    statuses: [400],
    means: 'model',
    message: /^Model Not Exist$/,
    source: 'https://github.com/deepwn/addi/issues/13',
  },
  {
    vendor: 'OpenRouter',
    statuses: [400],
    means: 'model',
    message: /^(\S+) is not a valid model ID$/,
    source: 'https://github.com/OpenRouterTeam/openrouter-examples/issues/74',
  },
  {
    vendor: 'OpenRouter',
    statuses: [403],
    means: 'content',
    // Only moderation comes as a 403 from this vendor; `metadata.flagged_input` is what it flagged.
    code: 'flagged_input',
    source: 'https://openrouter.ai/docs/api/reference/errors-and-debugging',
  },
  {
    vendor: 'Groq',
    statuses: [400],
    means: 'model',
    code: 'model_decommissioned',
    source: 'https://github.com/RightNow-AI/openfang/issues/60',
  },
  {
    vendor: 'Mistral',
    statuses: [400],
    means: 'model',
    message: /^Invalid model: (\S+)$/,
    source: 'https://github.com/tmc/langchaingo/issues/1233',
  },
  {
    vendor: 'Amazon Bedrock',
    statuses: [400],
    means: 'model',
    message: /^(?:ValidationException: )?The provided model identifier is invalid/,
    source: 'https://github.com/GoogleCloudPlatform/kubectl-ai/issues/515',
  },
  {
    vendor: 'Amazon Bedrock',
    statuses: [400],
    means: 'model',
    message: /^(?:ValidationException: )?Invocation of model ID (\S+) with on-demand throughput/,
    source: 'https://github.com/Laisky/one-api/issues/77',
  },
  {
    vendor: 'llama.cpp',
    statuses: [500],
    means: 'request',
    message: /^(?:.*\n)*.*System message must be at the beginning/,
    source: 'https://github.com/ggml-org/llama.cpp/issues/27367',
  },
  {
    vendor: 'Ollama',
    statuses: [500],
    means: 'request',
    message: /^system message must be at the beginning/,
    source: 'https://github.com/ollama/ollama/issues/17774',
  },
];

/** Statuses that may be misleading. */
const ambiguous: ReadonlySet<number> = new Set(vendorWordings.flatMap(({ statuses }) => statuses));

/**
 * The real trouble of an error answer. `upstreamModel`: our name for the model. `profile`: the upstream's vendor, whose wordings
 * alone can be meant; null: any vendor's. Null: as its status says.
 */
export function troubleOf(
  status: number,
  error: ReportedError | null,
  upstreamModel: string,
  profile: ProfileId | null,
): VendorTrouble | null {
  if (error === null || !ambiguous.has(status)) return null;
  const own = profileOf(profile)?.wordings ?? [];
  const found = vendorWordings.find(({ vendor, statuses, code, message }) => {
    if (!statuses.includes(status) || (own.length > 0 && !own.includes(vendor))) return false;
    if (code !== undefined) return error.codes.includes(code);
    const match = message?.exec(error.message) ?? null;
    return match !== null && (match[1] === undefined || match[1] === upstreamModel);
  });
  return found?.means ?? null;
}

/** Reads a vendor's error body: an error object, a list of one, a bare object or a plain sentence under `error`. */
export function readVendorError(body: Uint8Array): ReportedError | null {
  if (!isParsableError(body)) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'));
  } catch {
    return null;
  }
  const outer = asObject(Array.isArray(parsed) ? parsed[0] : parsed);
  if (outer === null) return null;
  const inner = asObject(outer['error']) ?? {};
  const message = [inner['message'], outer['error'], outer['message'], outer['detail']].find(
    (value) => typeof value === 'string',
  );
  const metadata = asObject(inner['metadata']) ?? {};
  const codes = [inner['code'], inner['type'], outer['code'], outer['type']].filter(
    (value) => typeof value === 'string',
  );
  return { message: message ?? '', codes: 'flagged_input' in metadata ? [...codes, 'flagged_input'] : codes };
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
