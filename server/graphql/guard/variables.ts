import {
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  typeFromAST,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
} from 'graphql';
import { closest } from '../../shared/closest.ts';

/**
 * Checks variables before the library does, whose messages quote values: a password of the wrong type would be in the
 * answer and in every log on its way. These messages name the place and the expected type.
 */

/** Maximum mistakes in one answer. */
const maxProblems = 10;

interface Problem {
  /** `$input.name` */
  place: string;
  message: string;
}

/** The problems of an operation's variables; empty when there are none. */
export function variableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  options: { hideSchema: boolean },
): GraphQLError[] {
  const problems: Problem[] = [];
  for (const definition of operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = inputTypeOf(schema, definition.type);
    if (type === undefined) continue;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined && (definition.defaultValue !== undefined || !isNonNullType(type))) continue;
    if (isFull(problems)) break;
    check(value, type, `$${name}`, { problems, ...options });
  }
  return problems.map(
    ({ place, message }) =>
      new GraphQLError(`Variable ${place} ${message}`, { extensions: { code: 'BAD_USER_INPUT' } }),
  );
}

/** Checking stops here: it runs before authorization, and an anonymous request may hold thousands of mistakes. */
function isFull(problems: readonly Problem[]): boolean {
  return problems.length >= maxProblems;
}

function inputTypeOf(schema: GraphQLSchema, node: TypeNode): GraphQLInputType | undefined {
  const type = typeFromAST(schema, node);
  return isInputType(type) ? type : undefined;
}

/** The operation that a request names, or its only one. */
export function operationOf(
  document: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  return operationName == null ? operations[0] : operations.find((each) => each.name?.value === operationName);
}

interface Checking {
  problems: Problem[];
  /** Whether names that the client did not send are kept out of messages. */
  hideSchema: boolean;
}

function check(value: unknown, type: GraphQLInputType, place: string, checking: Checking): void {
  const { problems, hideSchema } = checking;
  if (isFull(problems)) return;
  if (isNonNullType(type)) {
    if (value === undefined || value === null) problems.push({ place, message: `is required: ${String(type)}.` });
    else check(value, type.ofType, place, checking);
    return;
  }
  if (value === undefined || value === null) return;
  if (isListType(type)) {
    if (!Array.isArray(value)) check(value, type.ofType, place, checking);
    else {
      for (const [index, item] of value.entries()) {
        if (isFull(problems)) return;
        check(item, type.ofType, `${place}[${index}]`, checking);
      }
    }
    return;
  }
  if (isInputObjectType(type)) {
    if (typeof value !== 'object' || Array.isArray(value)) {
      problems.push({ place, message: `must be an object of type ${type.name}.` });
      return;
    }
    const fields = type.getFields();
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(fields, name)) continue;
      if (isFull(problems)) return;
      const meant = hideSchema ? null : closest(name, Object.keys(fields));
      const question = meant === null ? '' : ` Did you mean ${meant}?`;
      problems.push({
        place,
        message: `has the member ${JSON.stringify(name.slice(0, 64))}, which ${type.name} has not.${question}`,
      });
    }
    for (const field of Object.values(fields)) {
      const member = (value as Record<string, unknown>)[field.name];
      if (member === undefined && !isRequiredInputField(field)) continue;
      check(member, field.type, `${place}.${field.name}`, checking);
    }
    return;
  }
  try {
    if (type.coerceInputValue(value) !== undefined) return;
  } catch (error) {
    // Our own scalars describe the problem without the value; those of the library quote it.
    if (!isSpecifiedScalarType(type) && !isEnumType(type) && error instanceof GraphQLError) {
      problems.push({ place, message: `cannot be used: ${error.message}` });
      return;
    }
  }
  const expected =
    isEnumType(type) && !hideSchema
      ? `one of ${type
          .getValues()
          .map(({ name }) => name)
          .join(', ')}`
      : `of type ${type.name}`;
  problems.push({ place, message: `must be ${expected}.` });
}

/**
 * The library's rule for values in the document, with the values removed from its messages. Names of types and of
 * members stay.
 */
export const valuesRule: ValidationRule = (context) => {
  const careful = Object.create(context) as ValidationContext;
  careful.reportError = (error) => {
    const message = withoutValue(error.message);
    const { nodes, extensions } = error;
    context.reportError(new GraphQLError(message, { ...(nodes === undefined ? {} : { nodes }), extensions }));
  };
  return ValuesOfCorrectTypeRule(careful);
};

function withoutValue(message: string): string {
  const leaf =
    /^(?:Enum )?"?(\w+)"? cannot represent/.exec(message) ??
    /^Value ".*" does not exist in "(\w+)" enum/s.exec(message) ??
    /^Expected value of type "([\w![\]]+)", (?:found|but encountered)/.exec(message);
  if (leaf !== null) return `This must be a value of type ${leaf[1]}.`;
  // "…, found: <value>." and "… Did you mean <member>? Found: <value>."
  const [kept = ''] = message.split(/,? ?[Ff]ound: /, 1);
  return kept.length === message.length ? message : `${kept.replace(/[.,]$/, '')}.`;
}
