import { type DocumentedError, errorsMarkdown } from './errors.ts';

/** What agents read first (https://llmstxt.org): where everything is, and the whole reference as one text. In English. */

/** The parts of the OpenAPI document that are read here. */
export interface OpenApi {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: readonly { name: string; in: string; required?: boolean; description?: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

interface Endpoint {
  path: string;
  method: string;
  operation: Operation;
}

function endpointsOf({ paths }: OpenApi): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

export function llmsText(openApi: OpenApi, errors: readonly DocumentedError[], publicUrl: string): string {
  const operations = endpointsOf(openApi).map(
    ({ path, method, operation }) =>
      `- [${method} /api${path}](${publicUrl}/api/docs/${operation.operationId}): ${operation.summary}`,
  );
  return `# Steyg

> Prepaid gateway to hosted language models: one API key, three wire protocols (messages, chat completions, responses), every model of a catalog, a budget in USD.

- Base address for OpenAI's clients: ${publicUrl}/api/v1
- Base address for Anthropic's clients: ${publicUrl}/api
- Authentication: \`Authorization: Bearer sk-steyg-…\`
- Models with limits and prices: ${publicUrl}/api/v1/models
- Sets a coding tool up, without the key in the arguments: \`STEYG_API_KEY=… npx --yes ${publicUrl}/sdk.tgz connect TOOL --base-url ${publicUrl}/api\`

## Documentation

- [Quick starts](${publicUrl}/guides): for each language and tool, with blocks to copy
- [The whole reference as one text](${publicUrl}/llms-full.txt)
- [OpenAPI 3.1](${publicUrl}/api/openapi.json)
- [GraphQL schema](${publicUrl}/docs/schema.graphql): accounts, keys, budget, orders, usage; POST ${publicUrl}/graphql with an access token (\`tk-steyg-…\`)
- [GraphQL reference](${publicUrl}/docs/graphql)
- [Errors](${publicUrl}/docs/errors.md): ${errors.length} of them, each with cause and cure at ${publicUrl}/docs/errors/NAME.md
- [Status](${publicUrl}/status.json)
- [Prices](${publicUrl}/pricing)

## REST operations

${operations.join('\n')}
`;
}

export function llmsFullText(openApi: OpenApi, errors: readonly DocumentedError[], publicUrl: string): string {
  const operations = endpointsOf(openApi).map((each) => operationText(each, publicUrl));
  return [
    llmsText(openApi, errors, publicUrl),
    `# REST reference\n\n${openApi.info.description}`,
    ...operations,
    errorsMarkdown(errors, 'en'),
  ].join('\n\n');
}

function operationText({ path, method, operation }: Endpoint, publicUrl: string): string {
  const { summary, description = '', parameters = [], requestBody } = operation;
  const lines = parameters.map(
    (each) => `- \`${each.name}\` (${each.in}${each.required === true ? ', required' : ''}): ${each.description ?? ''}`,
  );
  const example = requestBody?.content['application/json']?.example;
  const body =
    example === undefined ? '' : ` \\\n  -H "content-type: application/json" \\\n  -d '${JSON.stringify(example)}'`;
  const needed = parameters
    .filter((each) => each.in === 'header' && each.required === true)
    .map((each) => ` \\\n  -H "${each.name}: ${String(each.example)}"`);
  return [
    `## ${method} /api${path}: ${summary}`,
    description,
    lines.join('\n'),
    `\`\`\`sh\ncurl ${publicUrl}/api${path.replace('{id}', 'sim-small')} \\\n  -H "authorization: Bearer $STEYG_API_KEY"${needed.join('')}${body}\n\`\`\``,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
