import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql';

/**
 * Limits of one document, checked before anything is resolved. Fragments count where they are spread, but each is
 * measured once: a fragment bomb is sized without being unfolded.
 */
export interface Limits {
  /** Tokens of the document; the parser stops there, so the other figures stay bounded too. */
  tokens: number;
  depth: number;
  aliases: number;
  directives: number;
  /** Selected fields after all fragments are unfolded. */
  fields: number;
  /** Root fields of a mutation: each is a separate action. */
  mutations: number;
  /** Fragments of the document: validation compares those that are spread side by side in pairs. */
  fragments: number;
  /** Fields that are selected more than once at one place: validation compares them in pairs. */
  repetitions: number;
}

export const defaultLimits: Limits = {
  tokens: 2_500,
  depth: 14,
  aliases: 30,
  directives: 30,
  fields: 1_200,
  mutations: 10,
  fragments: 60,
  repetitions: 100,
};

interface Size {
  depth: number;
  aliases: number;
  directives: number;
  fields: number;
  /** Fields of the selection itself, including those of its fragments. */
  roots: number;
}

const nothing: Size = { depth: 0, aliases: 0, directives: 0, fields: 0, roots: 0 };

const beside = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  aliases: a.aliases + b.aliases,
  directives: a.directives + b.directives,
  fields: a.fields + b.fields,
  roots: a.roots + b.roots,
});

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}

/** A document's measures. A fragment that contains itself is infinitely deep; validation reports it separately. */
function createMeasure(fragments: Fragments): (operation: OperationDefinitionNode) => Size {
  const measured = new Map<string, Size | 'open'>();

  const fragmentSize = (name: string): Size => {
    const known = measured.get(name);
    if (known === 'open') return { ...nothing, depth: Number.POSITIVE_INFINITY };
    if (known !== undefined) return known;
    const fragment = fragments.get(name);
    if (fragment === undefined) return nothing;
    measured.set(name, 'open');
    const size = selectionSize(fragment.selectionSet);
    const whole = { ...size, directives: size.directives + (fragment.directives?.length ?? 0) };
    measured.set(name, whole);
    return whole;
  };

  const selectionSize = (set: SelectionSetNode | undefined): Size => {
    let total = nothing;
    for (const selection of set?.selections ?? []) {
      let size: Size;
      if (selection.kind === Kind.FIELD) {
        // Introspection is nested by its nature, and closed in production.
        const describes = selection.name.value.startsWith('__');
        const below = selectionSize(selection.selectionSet);
        size = {
          ...below,
          depth: describes ? 1 : below.depth + 1,
          fields: below.fields + 1,
          roots: 1,
          aliases: below.aliases + (selection.alias === undefined ? 0 : 1),
        };
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        size = fragmentSize(selection.name.value);
      } else {
        size = selectionSize(selection.selectionSet);
      }
      total = beside(total, { ...size, directives: size.directives + (selection.directives?.length ?? 0) });
    }
    return total;
  };

  return (operation) => {
    const size = selectionSize(operation.selectionSet);
    return { ...size, directives: size.directives + (operation.directives?.length ?? 0) };
  };
}

/**
 * Fields whose response key is selected more than once at the same place. Unfolds fragments: only for operations whose
 * number of fields has been checked.
 */
function repetitionsIn(sets: readonly SelectionSetNode[], fragments: Fragments): number {
  const below = new Map<string, SelectionSetNode[]>();
  let repetitions = 0;
  const open = [...sets];
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const known = below.get(name);
        if (known === undefined) below.set(name, selection.selectionSet === undefined ? [] : [selection.selectionSet]);
        else {
          repetitions += 1;
          if (selection.selectionSet !== undefined) known.push(selection.selectionSet);
        }
      } else if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet);
      else {
        const fragment = fragments.get(selection.name.value);
        if (fragment !== undefined) open.push(fragment.selectionSet);
      }
    }
  }
  for (const children of below.values()) if (children.length > 0) repetitions += repetitionsIn(children, fragments);
  return repetitions;
}

/** What a document has too much of: how much, and how much it may have. */
interface Excess {
  measure: string;
  cost: number;
  maximum: number;
}

function tooLarge(message: string, excess: Excess): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'DOCUMENT_TOO_LARGE', ...excess } });
}

/** The validation rule that holds a document to the limits. */
export function limitsRule(limits: Limits): ValidationRule {
  return (context) => ({
    Document: {
      enter: (document) => {
        const fragments = fragmentsOf(document);
        const measure = createMeasure(fragments);
        let fits = true;
        const report = (message: string, excess: Excess) => {
          fits = false;
          context.reportError(tooLarge(message, excess));
        };
        const over = (measure: keyof Limits, cost: number): Excess => ({ measure, cost, maximum: limits[measure] });
        if (fragments.size > limits.fragments)
          report(`A document has at most ${limits.fragments} fragments.`, over('fragments', fragments.size));
        for (const definition of document.definitions) {
          if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
          const size = measure(definition);
          for (const what of ['depth', 'aliases', 'directives', 'fields'] as const) {
            if (size[what] > limits[what]) {
              report(`The operation exceeds the limit of ${limits[what]} for ${what}.`, over(what, size[what]));
            }
          }
          if (definition.operation === 'mutation' && size.roots > limits.mutations) {
            report(`An operation changes at most ${limits.mutations} things.`, over('mutations', size.roots));
          }
          const repetitions = fits ? repetitionsIn([definition.selectionSet], fragments) : 0;
          if (repetitions > limits.repetitions) {
            report(
              `An operation selects at most ${limits.repetitions} fields again that it has selected already.`,
              over('repetitions', repetitions),
            );
          }
        }
        // Further checks cost time, and their results do not matter once the document is too large.
        return fits ? undefined : false;
      },
    },
  });
}

/** PostgreSQL stores neither of these, so they are refused here. */
export function isCleanText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

function dirtyText(): GraphQLError {
  return new GraphQLError('Text must be well-formed Unicode without NUL characters.', {
    extensions: { code: 'BAD_USER_INPUT' },
  });
}

/** The validation rule for strings written into the document itself. */
export const cleanTextRule: ValidationRule = (context) => ({
  StringValue: (node) => {
    if (!isCleanText(node.value)) context.reportError(dirtyText());
  },
});

/** The same for variables: null when all text in them is clean. Iterative, because the client chooses the depth. */
export function findDirtyText(variables: unknown): GraphQLError | null {
  const open: unknown[] = [variables];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      if (!isCleanText(value)) return dirtyText();
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (!isCleanText(key)) return dirtyText();
        open.push(item);
      }
    }
  }
  return null;
}
