import type { BodyKind } from './members.ts';

/**
 * How an error names a member of a request's body: as the protocol's vendor writes it, because programs read the path back.
 * Anthropic joins every step with a dot, `messages.1.content.0` (github.com/anthropics/claude-code/issues/26542); OpenAI
 * puts indexes in brackets, `messages[0].role` (github.com/CherryHQ/cherry-studio/issues/1403) and `tools[0].name`
 * (github.com/microsoft/vscode-copilot-release/issues/11157).
 */
export function spellMember(body: BodyKind, steps: readonly (string | number)[]): string {
  if (body === 'messages') return steps.join('.');
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  }, '');
}

/**
 * The steps to the object that has a member whose name begins at byte `end`. Everything before it must be JSON that a scan
 * has passed; names with an escape in them are taken as they are written.
 */
export function stepsTo(body: Buffer, end: number): (string | number)[] {
  const open: { step: string | number; isList: boolean }[] = [];
  let at = 0;
  while (at < end) {
    const byte = body[at];
    const inner = open.at(-1);
    if (byte === 0x7b || byte === 0x5b) open.push({ step: byte === 0x5b ? 0 : '', isList: byte === 0x5b });
    else if (byte === 0x7d || byte === 0x5d) open.pop();
    else if (byte === 0x2c && inner?.isList === true) inner.step = Number(inner.step) + 1;
    else if (byte === 0x22) {
      const close = closingQuote(body, at);
      if (inner?.isList === false && isBeforeColon(body, close + 1)) {
        inner.step = body.toString('utf8', at + 1, close);
      }
      at = close;
    }
    at += 1;
  }
  return open.slice(0, -1).map(({ step }) => step);
}

function closingQuote(body: Buffer, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== 0x22) at += body[at] === 0x5c ? 2 : 1;
  return at;
}

function isBeforeColon(body: Buffer, start: number): boolean {
  let at = start;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return body[at] === 0x3a;
}
