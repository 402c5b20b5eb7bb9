import type { CatalogModel } from '../catalog/catalog.ts';
import type { Refusal, Refusals } from '../errors.ts';
import type { RequestFacts, WireProblem } from '../wire/protocol.ts';

/** What is wrong with a request as its protocol words it, as a refusal. */
export function problemRefusal(refusals: Refusals, problem: WireProblem): Refusal {
  const { message, param, code, status, details } = problem;
  const refusal =
    status === 501
      ? refusals.notSupported(message)
      : refusals.invalidRequest(message, param, code, details === undefined ? undefined : { details });
  return status === undefined ? refusal : { ...refusal, status };
}

/**
 * The first field that may not pass to an upstream, because it could reach another customer's state at the shared vendor
 * account or costs what the catalog has no price for. Null: none. `translated`: what translation leaves out may stay.
 */
export function shutGate(
  facts: RequestFacts,
  model: Pick<CatalogModel, 'allow'>,
  translated: boolean,
): WireProblem | null {
  const shut = facts.gates.find(
    (gate) => !model.allow.has(gate.name) && !(translated && gate.translationDrops === true),
  );
  return shut?.problem ?? null;
}
