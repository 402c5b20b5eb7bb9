import { escapeText } from '../../shared/page.ts';
import { createPublicPages } from '../../shared/public-page.ts';
import { describeTranslation } from './translation.ts';

/** The subset of OpenAPI 3.1 that this page renders. */
interface Document {
  info: { title: string; description: string };
  servers: readonly { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, { description: string }> };
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Answer>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
}

interface Answer {
  description: string;
  headers?: Record<string, { description: string }>;
  content?: Content;
}

type Content = Record<string, { schema: Schema; example?: unknown }>;

interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  examples?: readonly unknown[];
}

interface Endpoint {
  path: string;
  method: string;
  operation: Operation;
}

const root = '/api/docs';
/** The page with every object; anchors within it name them. */
const objectsPath = `${root}/objects`;
const pathOf = ({ operation }: Endpoint) => `${root}/${operation.operationId}`;

/**
 * The reference of the data plane by path: one page with all operations, one for each of them, one with the objects.
 * HTML without script, font, picture or any other request, in light and dark, readable by eye, by keyboard and by
 * screen reader. In English, as the document is.
 */
export function referencePages(openApi: object): ReadonlyMap<string, string> {
  const document = openApi as Document;
  const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const schemas = Object.entries(document.components.schemas);
  const base = document.servers[0]?.url ?? '';
  const frame = (path: string, title: string, body: string) => pageOf({ document, endpoints, path, title, body });
  return new Map([
    [root, frame(root, 'API reference', overview(document, endpoints, base))],
    ...endpoints.map((each): [string, string] => [
      pathOf(each),
      frame(pathOf(each), each.operation.summary, operationSection(each, base)),
    ]),
    [
      objectsPath,
      frame(
        objectsPath,
        'Objects',
        `<h1>Objects</h1>
<p class="quiet">What a field may hold. Objects may have further fields: a client leaves alone what it does not know.</p>
${schemas.map(([name, schema]) => schemaSection(name, schema)).join('\n')}`,
      ),
    ],
  ]);
}

function pageOf({
  document,
  endpoints,
  path,
  title,
  body,
}: {
  document: Document;
  endpoints: readonly Endpoint[];
  path: string;
  title: string;
  body: string;
}): string {
  const here = (other: string) => (other === path ? ' aria-current="page"' : '');
  return pages.render({
    locale: 'en',
    path,
    title: `${title} · ${document.info.title}`,
    here: 'docs',
    seller: null,
    oneLanguage: true,
    body: `<div class="columns">
<nav class="contents" aria-label="Contents">
<h2><a href="${root}"${here(root)}>API reference</a></h2>
<ul>${endpoints.map((each) => `<li><a href="${pathOf(each)}"${here(pathOf(each))}><span class="method">${each.method}</span> ${breakable(each.path)}</a></li>`).join('')}<li><a href="${objectsPath}"${here(objectsPath)}>Objects</a></li><li><a href="/docs/errors">Errors</a></li><li><a href="/api/openapi.json">openapi.json</a></li></ul>
</nav>
<div class="content">
${body}
</div>
</div>`,
  });
}

function overview({ info, components }: Document, endpoints: readonly Endpoint[], base: string): string {
  const [authentication] = Object.values(components.securitySchemes);
  // The ids keep addresses of the time when everything stood on this page.
  const rows = endpoints.map(
    (each) =>
      `<tr id="${each.operation.operationId}"><th scope="row"><a href="${pathOf(each)}"><span class="method">${each.method}</span> <code>${breakable(each.path)}</code></a></th><td>${escapeText(each.operation.summary)}</td></tr>`,
  );
  return `<h1>API reference</h1>
${prose(info.description)}
<dl class="facts"><div><dt>Base address</dt><dd><code>${escapeText(base)}</code></dd></div><div><dt>Authentication</dt><dd><code>Authorization: Bearer …</code>. ${inline(authentication?.description ?? '')}</dd></div></dl>
<h2>Operations</h2>
${table(['Operation', 'What it does'], rows, 'Operations')}`;
}

const translations = (['messages', 'chat-completions', 'responses'] as const).map(describeTranslation);

/** The description of an operation; what translation does with each field is folded away. */
function described(description: string): string {
  const translation = translations.find((each) => description.endsWith(each));
  if (translation === undefined) return prose(description);
  return `${prose(description.slice(0, -translation.length).trim())}
<details><summary>Which fields are refused, left out or translated</summary><div class="answer">${prose(translation)}</div></details>`;
}

function operationSection({ path, method, operation }: Endpoint, base: string): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  return `<h1 id="${operationId}">${escapeText(summary)}</h1>
<p class="address"><span class="method">${method}</span> <code>${breakable(path)}</code></p>
${description === undefined ? '' : described(description)}
${parameters.length === 0 ? '' : `<h2>Parameters</h2>${parameterTable(parameters, summary)}`}
${body === undefined ? '' : `<h2>Request</h2><p>${typeOf(body.schema)}</p>`}
<h2>Example</h2>
${code(curlOf(`${base}${path}`, operation, body?.example), `${summary}: example`)}
<h2>Answers</h2>
${Object.entries(responses)
  .map(([status, answer]) => answerPart(status, answer, summary))
  .join('\n')}`;
}

/** The operation as a curl command. */
function curlOf(url: string, { parameters = [] }: Operation, example: unknown): string {
  const needed = parameters.filter((each) => each.in === 'header' && each.required === true);
  const headers = [
    '  -H "authorization: Bearer $STEYG_API_KEY"',
    ...needed.map((each) => `  -H "${each.name}: ${String(each.example)}"`),
    ...(example === undefined
      ? []
      : ['  -H "content-type: application/json"', `  -d '${JSON.stringify(example, null, 2)}'`]),
  ];
  return [`curl ${url.replace('{id}', 'sim-small')}`, ...headers].join(' \\\n');
}

function parameterTable(parameters: readonly Parameter[], of: string): string {
  const rows = parameters.map(
    (each) =>
      `<tr><th scope="row"><code>${escapeText(each.name)}</code> <span class="quiet">${escapeText(each.in)}${each.required === true ? ', required' : ''}</span></th><td>${typeOf(each.schema)}</td><td>${inline(each.description ?? '')}</td></tr>`,
  );
  return table(['Name', 'Type', 'Meaning'], rows, `${of}: parameters`);
}

function answerPart(status: string, { description, headers = {}, content = {} }: Answer, of: string): string {
  const good = status.startsWith('2');
  const bodies = Object.entries(content).map(
    ([type, { schema, example }]) =>
      `<p><code>${escapeText(type)}</code>: ${typeOf(schema)}</p>${typeof example === 'string' ? code(example, `${of}: ${type}`) : ''}`,
  );
  const heads = Object.entries(headers).map(
    ([name, header]) => `<li><code>${escapeText(name)}</code>: ${inline(header.description)}</li>`,
  );
  return `<details${good ? ' open' : ''}><summary><span class="status ${good ? 'good' : 'bad'}">${status}</span> ${inline(description)}</summary><div class="answer">${bodies.join('')}${heads.length === 0 ? '' : `<p>Headers:</p><ul>${heads.join('')}</ul>`}</div></details>`;
}

function schemaSection(name: string, schema: Schema): string {
  const variants = schema.oneOf ?? schema.anyOf;
  const content =
    schema.properties !== undefined
      ? fieldTable(schema, name)
      : variants !== undefined
        ? `<p>One of:</p><ul>${variants.map((each) => `<li>${typeOf(each, 0)}</li>`).join('')}</ul>`
        : `<p>${typeOf(schema)}</p>`;
  return `<section class="card" aria-labelledby="${anchorOf(name)}"><h2 id="${anchorOf(name)}" tabindex="-1">${escapeText(name)}</h2>${schema.description === undefined ? '' : prose(schema.description)}${content}</section>`;
}

function fieldTable(schema: Schema, of: string): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const required = schema.required?.includes(name) === true ? ' <span class="quiet">required</span>' : '';
    return `<tr><th scope="row"><code>${breakable(name)}</code>${required}</th><td>${typeOf(field)}</td><td>${meaningOf(field)}</td></tr>`;
  });
  return table(['Field', 'Type', 'Meaning'], rows, `${of}: fields`);
}

function meaningOf({ description = '', examples = [], minimum, maximum }: Schema): string {
  const facts = [
    ...(description === '' ? [] : [inline(description)]),
    ...(minimum === undefined || minimum < -1e9 ? [] : [`At least ${minimum}.`]),
    ...(maximum === undefined || maximum > 1e15 ? [] : [`At most ${maximum}.`]),
    ...(examples.length === 0 ? [] : [`E.g. ${examples.map(literal).join(', ')}`]),
  ];
  return facts.join(' ');
}

/** Maximum depth of objects that are described inline; deeper ones are only called objects. */
const deepest = 3;

/** The type of a value, with links to named objects. */
function typeOf(schema: Schema, depth = 0): string {
  if (schema.$ref !== undefined) return schemaLink(schema.$ref.replace('#/components/schemas/', ''));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' or ');
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) return [...new Set(variants.map((each) => typeOf(each, depth)))].join(' or ');
  if (schema.type === 'array')
    return `array of ${schema.items === undefined ? 'anything' : typeOf(schema.items, depth)}`;
  if (schema.properties !== undefined && depth < deepest) {
    const fields = Object.entries(schema.properties).map(
      ([name, field]) =>
        `<li><code>${breakable(name)}</code>${schema.required?.includes(name) === true ? '' : '?'}: ${typeOf(field, depth + 1)}</li>`,
    );
    return `object<ul class="fields">${fields.join('')}</ul>`;
  }
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
    return `object of ${typeOf(additionalProperties, depth)}`;
  }
  const names = [schema.type ?? 'anything'].flat().join(' or ');
  return escapeText(schema.format === undefined ? names : `${names} (${schema.format})`);
}

const anchorOf = (name: string) => `object-${escapeText(name)}`;
const schemaLink = (name: string) => `<a href="${objectsPath}#${anchorOf(name)}">${escapeText(name)}</a>`;
const literal = (value: unknown) => `<code>${escapeText(JSON.stringify(value))}</code>`;
/** Allows line breaks in long names after their parts. */
const breakable = (text: string) => escapeText(text).replaceAll(/[/_]/g, '$&<wbr>');

function table(heads: readonly string[], rows: readonly string[], name: string): string {
  return `<div class="scroll" tabindex="0" role="group" aria-label="${escapeText(name)}"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function code(text: string, name: string): string {
  return `<pre tabindex="0" role="group" aria-label="${escapeText(name)}"><code>${escapeText(text.trimEnd())}</code></pre>`;
}

/** Paragraphs and lists as the descriptions have them. */
function prose(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => {
      const lines = block.split('\n');
      const items = lines.filter((line) => line.startsWith('- '));
      const words = lines.filter((line) => !line.startsWith('- '));
      return `${words.length === 0 ? '' : `<p>${inline(words.join(' '))}</p>`}${items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${inline(item.slice(2))}</li>`).join('')}</ul>`}`;
    })
    .join('\n');
}

/** Text with backticks rendered as code. */
function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? `<code>${escapeText(part)}</code>` : escapeText(part)))
    .join('');
}

const style = `
body{max-width:82rem}
.columns{display:grid;grid-template-columns:17rem minmax(0,1fr);gap:2.5rem;align-items:start}
.contents{position:sticky;top:0;max-height:100vh;overflow-y:auto;padding:1rem .25rem;font-size:var(--type-small)}
.contents [aria-current]{color:var(--link);font-weight:var(--weight-strong)}
.contents h2{margin:0 0 .5rem;font-size:var(--type-small);font-weight:var(--weight-strong);color:var(--text)}.contents h2 a{padding-left:.25rem}
.contents ul{list-style:none;margin:0;padding:0;display:grid;gap:.15rem}
.contents a{display:block;padding:.2rem .25rem;text-decoration:none;color:var(--text)}.contents a:hover{color:var(--link-strong);text-decoration:underline}
h2:focus,h3:focus{outline:none}
section.card{margin:1.5rem 0;scroll-margin-top:1rem}section.card>h2{margin-top:0}section.card>h3:first-child{margin-top:0}
h2[id],h3[id]{scroll-margin-top:1.5rem}h2:target,h3:target{text-decoration:underline;text-decoration-color:var(--link);text-underline-offset:.25em}
h3{font-size:var(--type-body);margin:1.25rem 0 .5rem}
main p,main li{max-width:46rem}main ul{padding-left:1.25rem;margin:.5rem 0}main li{margin:.2rem 0}
code{color:inherit}
.method{font-family:var(--mono);font-size:var(--type-note);font-weight:var(--weight-strong);color:var(--accent)}
.address{font-size:var(--type-body)}
pre{margin:.5rem 0;padding:.75rem .9rem;overflow-x:auto;border:1px solid var(--line);border-radius:.6rem;background:var(--sunken);font-size:var(--type-note);line-height:var(--line-text);overflow-wrap:normal}pre code{font-size:inherit}
.facts{display:grid;gap:.35rem;margin:1rem 0}.facts div{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:1rem}dt{color:var(--quiet)}dd{margin:0}
th,td{white-space:normal;vertical-align:top;overflow-wrap:break-word}th[scope=row]{min-width:9rem}td{min-width:8rem}
.fields{margin:.15rem 0;padding-left:1rem;list-style:none;border-left:2px solid var(--line)}
main summary{width:auto;padding:.3rem 0;color:var(--text)}.status{font-variant-numeric:tabular-nums;font-weight:var(--weight-strong)}.status.good{color:var(--accent)}.status.bad{color:var(--most-text)}
.answer{padding:0 0 .5rem 1.25rem;font-size:var(--type-small)}
@media (max-width:56rem){.columns{grid-template-columns:minmax(0,1fr);gap:0}.contents{position:static;max-height:none}.facts div{grid-template-columns:minmax(0,1fr);gap:0}}
@media print{.contents{display:none}.columns{display:block}}
`;

const pages = createPublicPages(style);

export const referencePolicy: string = pages.policy;
