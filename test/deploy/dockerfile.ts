/** Reads a Dockerfile of the plain kind: stages, and their instructions with continued lines joined. */

export interface Instruction {
  /** Upper-case, e.g. `COPY`. */
  name: string;
  /** Options such as `--from=build`, by name. */
  options: Readonly<Record<string, string>>;
  /** What follows the options, as it is written. */
  rest: string;
}

export interface Stage {
  image: string;
  name: string | null;
  instructions: readonly Instruction[];
}

const known = new Set(['CMD', 'COPY', 'ENV', 'EXPOSE', 'FROM', 'HEALTHCHECK', 'RUN', 'USER', 'WORKDIR']);

export function readDockerfile(text: string): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  for (const line of lines.filter((each) => each.trim() !== '')) {
    const [, name = '', flags = '', rest = ''] = /^(\w+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
    if (!known.has(name)) throw new Error(`not an instruction: ${line}`);
    if (name === 'FROM') {
      const [image = '', , as = null] = rest.split(/\s+/);
      stages.push({ image, name: as, instructions: [] });
      continue;
    }
    const options = Object.fromEntries(
      [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, option = '', value = '']) => [option, value]),
    );
    stages.at(-1)?.instructions.push({ name, options, rest });
  }
  return stages;
}

/** The last instruction of a name in a stage; throws when there is none. */
export function lastOf(stage: Stage, name: string): Instruction {
  const found = stage.instructions.findLast((each) => each.name === name);
  if (found === undefined) throw new Error(`the stage ${stage.name ?? stage.image} has no ${name}`);
  return found;
}

/** The variables that a stage sets. */
export function variablesOf(stage: Stage): Record<string, string> {
  const pairs = stage.instructions.filter(({ name }) => name === 'ENV').flatMap(({ rest }) => rest.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => [pair.split('=')[0] ?? '', pair.split('=').slice(1).join('=')]));
}
