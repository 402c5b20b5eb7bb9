import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql';
import { escapeText, type Locale } from '../../shared/page.ts';
import { block, inline, table } from './docs-page.ts';

/** The reference of GraphQL, from the schema as it is served: each operation and each type at its own address. */

type Field = GraphQLField<unknown, unknown>;
type Kind = 'query' | 'mutation' | 'subscription';

interface Made {
  title: string;
  body: string;
}

interface Words {
  title: string;
  lead: string;
  explorer: string;
  kinds: Record<Kind, string>;
  types: string;
  back: string;
  takes: string;
  returns: string;
  example: string;
  fields: string;
  values: string;
  members: string;
  implemented: string;
  usedBy: string;
  name: string;
  type: string;
  meaning: string;
  needed: string;
}

const words: Record<Locale, Words> = {
  en: {
    title: 'GraphQL reference',
    lead: 'Send operations as JSON to `POST /graphql` with an access token (`Authorization: Bearer tk-steyg-…`). Lists are Relay connections; errors that can be expected are members of a result’s union.',
    explorer: 'Signed-in people try operations out in the explorer at `/graphql`, where the service offers it.',
    kinds: { query: 'Queries', mutation: 'Mutations', subscription: 'Subscriptions' },
    types: 'Types',
    back: 'GraphQL reference',
    takes: 'Takes',
    returns: 'Answers with',
    example: 'Example',
    fields: 'Fields',
    values: 'Values',
    members: 'One of',
    implemented: 'Types of this kind',
    usedBy: 'Used by',
    name: 'Name',
    type: 'Type',
    meaning: 'Meaning',
    needed: 'required',
  },
  vi: {
    title: 'Tài liệu GraphQL',
    lead: 'Gửi thao tác dạng JSON đến `POST /graphql` kèm access token (`Authorization: Bearer tk-steyg-…`). Danh sách theo chuẩn Relay; lỗi dự kiến được là thành viên trong union của kết quả.',
    explorer: 'Người đã đăng nhập có thể chạy thử trong trình khám phá ở `/graphql`, nếu dịch vụ bật nó.',
    kinds: { query: 'Truy vấn', mutation: 'Thao tác ghi', subscription: 'Theo dõi' },
    types: 'Kiểu',
    back: 'Tài liệu GraphQL',
    takes: 'Tham số',
    returns: 'Kết quả',
    example: 'Ví dụ',
    fields: 'Trường',
    values: 'Giá trị',
    members: 'Một trong',
    implemented: 'Các kiểu thuộc loại này',
    usedBy: 'Dùng trong',
    name: 'Tên',
    type: 'Kiểu',
    meaning: 'Ý nghĩa',
    needed: 'bắt buộc',
  },
};

export function createGraphqlReference(schema: GraphQLSchema) {
  const operations = new Map<string, { kind: Kind; field: Field }>();
  for (const [kind, type] of [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const)
    for (const field of Object.values(type?.getFields() ?? {})) operations.set(field.name, { kind, field });
  const roots = new Set(['Query', 'Mutation', 'Subscription']);
  const types = Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith('__') && !roots.has(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const users = usersOf(types, operations);

  return {
    overview(locale: Locale): Made {
      const w = words[locale];
      const parts = (['query', 'mutation', 'subscription'] as const).map((kind) => {
        const rows = [...operations.values()]
          .filter((each) => each.kind === kind)
          .toSorted((a, b) => (a.field.name < b.field.name ? -1 : 1))
          .map(
            ({ field }) =>
              `<tr><th scope="row">${linkTo(field.name, locale)}</th><td lang="en">${inline(field.description ?? '')}</td></tr>`,
          );
        return `<h2>${w.kinds[kind]}</h2>${table(w.kinds[kind], [w.name, w.meaning], rows)}`;
      });
      const shown = types.filter(({ name }) => !/(?:Connection|Edge|Result|Input)$/.test(name));
      return {
        title: w.title,
        body: `<h1>${w.title}</h1>
<p class="lead">${inline(w.lead)}</p>
<p>${inline(w.explorer)} <a href="/docs/schema.graphql">schema.graphql</a></p>
${parts.join('\n')}
<h2>${w.types}</h2>
<ul class="members">${shown.map(({ name }) => `<li>${linkTo(name, locale)}</li>`).join('')}</ul>`,
      };
    },

    /** An operation or a type; null: there is none of this name. */
    member(name: string, locale: Locale): Made | null {
      const operation = operations.get(name);
      const type = operation === undefined ? types.find((each) => each.name === name) : undefined;
      const w = words[locale];
      const content =
        operation !== undefined
          ? operationBody(schema, operation, w, locale)
          : type === undefined
            ? null
            : typeBody(schema, type, w, locale) + usedBy(users.get(name) ?? [], w, locale);
      if (content === null) return null;
      const description = operation?.field.description ?? type?.description ?? '';
      return {
        title: name,
        body: `<p class="trail"><a href="/docs/graphql?lang=${locale}">← ${w.back}</a></p>
<h1>${escapeText(name)}</h1>
<div lang="en">${description
          .split(/\n{2,}/)
          .map((part) => `<p>${inline(part)}</p>`)
          .join('')}</div>
${content}`,
      };
    },
  };
}

function usersOf(
  types: readonly GraphQLNamedType[],
  operations: ReadonlyMap<string, { field: Field }>,
): Map<string, string[]> {
  const users = new Map<string, string[]>();
  const add = (used: string, by: string) => {
    const list = users.get(used) ?? [];
    if (!list.includes(by)) users.set(used, [...list, by]);
  };
  for (const [name, { field }] of operations) {
    add(getNamedType(field.type).name, name);
    for (const argument of field.args) add(String(argument.type).replaceAll(/\W/g, ''), name);
  }
  for (const type of types) {
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
      for (const field of Object.values(type.getFields())) add(String(field.type).replaceAll(/\W/g, ''), type.name);
    if (isUnionType(type)) for (const member of type.getTypes()) add(member.name, type.name);
  }
  return users;
}

function usedBy(names: readonly string[], w: Words, locale: Locale): string {
  if (names.length === 0) return '';
  return `\n<h2>${w.usedBy}</h2>\n<ul class="members">${names.map((name) => `<li>${linkTo(name, locale)}</li>`).join('')}</ul>`;
}

const linkTo = (name: string, locale: Locale) =>
  `<a href="/docs/graphql/${name}?lang=${locale}"><code>${name}</code></a>`;

/** The type as it is written, with its name as a link. */
function typeLink(type: { toString(): string }, locale: Locale): string {
  const text = String(type);
  const [name = ''] = /\w+/.exec(text) ?? [];
  return text.replace(name, linkTo(name, locale));
}

function argumentTable(
  args: readonly (GraphQLArgument | GraphQLInputField)[],
  { title, w, locale }: { title: string; w: Words; locale: Locale },
): string {
  const rows = args.map((each) => {
    const needed = isRequiredArgument(each as GraphQLArgument) ? ` <span class="quiet">${w.needed}</span>` : '';
    return `<tr><th scope="row"><code>${each.name}</code>${needed}</th><td>${typeLink(each.type, locale)}</td><td lang="en">${inline(each.description ?? '')}</td></tr>`;
  });
  return table(title, [w.name, w.type, w.meaning], rows);
}

function fieldTable(fields: readonly Field[], w: Words, locale: Locale): string {
  const rows = fields.map((field) => {
    const args = field.args.length === 0 ? '' : `(${field.args.map(({ name }) => name).join(', ')})`;
    return `<tr><th scope="row"><code>${field.name}</code>${args === '' ? '' : ` <span class="quiet">${args}</span>`}</th><td>${typeLink(field.type, locale)}</td><td lang="en">${inline(field.description ?? '')}</td></tr>`;
  });
  return table(w.fields, [w.name, w.type, w.meaning], rows);
}

function operationBody(
  schema: GraphQLSchema,
  { kind, field }: { kind: Kind; field: Field },
  w: Words,
  locale: Locale,
): string {
  const of = getNamedType(field.type);
  const input = field.args.flatMap(({ type }) => {
    const named = getNamedType(type);
    return isInputObjectType(named)
      ? [`<h2>${named.name}</h2>${argumentTable(Object.values(named.getFields()), { title: named.name, w, locale })}`]
      : [];
  });
  return `${field.args.length === 0 ? '' : `<h2>${w.takes}</h2>${argumentTable(field.args, { title: w.takes, w, locale })}`}
${input.join('\n')}
<h2>${w.returns}</h2><p>${typeLink(field.type, locale)}${
    isUnionType(of)
      ? `: ${of
          .getTypes()
          .map(({ name }) => linkTo(name, locale))
          .join(', ')}`
      : ''
  }</p>
<h2>${w.example}</h2>${block(w.example, exampleOf(schema, kind, field))}`;
}

function typeBody(schema: GraphQLSchema, type: GraphQLNamedType, w: Words, locale: Locale): string {
  if (isEnumType(type)) {
    const rows = type
      .getValues()
      .map(
        ({ name, description }) =>
          `<tr><th scope="row"><code>${name}</code></th><td lang="en">${inline(description ?? '')}</td></tr>`,
      );
    return `<h2>${w.values}</h2>${table(w.values, [w.name, w.meaning], rows)}`;
  }
  if (isUnionType(type))
    return `<h2>${w.members}</h2><ul class="members">${type
      .getTypes()
      .map(({ name }) => `<li>${linkTo(name, locale)}</li>`)
      .join('')}</ul>`;
  if (isInputObjectType(type))
    return `<h2>${w.fields}</h2>${argumentTable(Object.values(type.getFields()), { title: w.fields, w, locale })}`;
  if (!isObjectType(type) && !isInterfaceType(type)) return '';
  const made = isInterfaceType(type)
    ? `\n<h2>${w.implemented}</h2><ul class="members">${schema
        .getImplementations(type)
        .objects.map(({ name }) => `<li>${linkTo(name, locale)}</li>`)
        .join('')}</ul>`
    : '';
  return `<h2>${w.fields}</h2>${fieldTable(Object.values(type.getFields()), w, locale)}${made}`;
}

/** A document that the schema accepts: its variables, and the plain members of what it answers with. */
export function exampleOf(schema: GraphQLSchema, kind: Kind, field: Field): string {
  const variables = field.args.filter(isRequiredArgument);
  const listed = field.args.filter(
    ({ name }) => name === 'first' && !variables.some((variable) => variable.name === name),
  );
  const taken = [...variables.map(({ name }) => `${name}: $${name}`), ...listed.map(({ name }) => `${name}: 10`)];
  const head =
    variables.length === 0 ? '' : ` (${variables.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ')})`;
  const selection = selectionOf(schema, field.type, '    ', 0);
  const call = `${field.name}${taken.length === 0 ? '' : `(${taken.join(', ')})`}`;
  return `${kind}${head} {\n  ${call}${selection === '' ? '' : ` {\n${selection}\n  }`}\n}`;
}

const mostFields = 8;
/** Lists have their elements two levels down. */
const deepest = 2;

function selectionOf(schema: GraphQLSchema, type: GraphQLOutputType, indent: string, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (isUnionType(named)) {
    const errors = schema.getType('Error');
    const isError = (member: GraphQLNamedType) =>
      isInterfaceType(errors) && isObjectType(member) && schema.isSubType(errors, member);
    const members = named.getTypes();
    const parts = members
      .filter((member) => !isError(member))
      .map(
        (member) =>
          `${indent}... on ${member.name} {\n${selectionOf(schema, member, `${indent}  `, depth + 1)}\n${indent}}`,
      );
    const refused = members.some(isError) ? [`${indent}... on Error { code message }`] : [];
    return [...parts, ...refused].join('\n');
  }
  if (!isObjectType(named) && !isInterfaceType(named)) return '';
  const fields = Object.values(named.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
  const list = fields.find(({ name }) => name === 'nodes') ?? fields.find(({ name }) => name === 'edges');
  if (list !== undefined && depth <= deepest) {
    const below = selectionOf(schema, list.type, `${indent}  `, depth + 1);
    return `${indent}${list.name} {\n${below}\n${indent}}\n${indent}pageInfo { hasNextPage endCursor }`;
  }
  const plain = fields.filter(({ type: of }) => isLeafType(getNamedType(of))).slice(0, mostFields);
  return plain.length === 0 ? `${indent}__typename` : plain.map(({ name }) => `${indent}${name}`).join('\n');
}
