import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parsePrice } from '../../core/money.ts';
import { unitPrices } from '../../core/price.ts';
import { readRecording, UnusableRecording } from './recorded.ts';
import { type ReplayedExchange, type ReplayedModel, replay } from './replay.ts';

/** The operator's command `npm run replay -- FILE`. It reads one file and opens no connection. */

const help = `npm run --silent replay -- FILE [--input USD --output USD [--cache-hit USD] [--cache-write-5m USD] [--cache-write-1h USD]]
                           [--context-window TOKENS] [--json]

Says what a client of each protocol would have seen of recorded answers of a vendor, and what they would have cost.
FILE is a HAR file, or one JSON object a line: {"url": "…/chat/completions", "request": …, "status": 200, "response": …}
with the bodies as text or JSON. Prices are in USD per 1,000,000 tokens. The report holds nothing of what was asked or
answered, so that it can be sent to whom the fault is reported. Exit code 1: an answer is not complete, or its usage is
not as the vendor reported it.`;

/** Returns the exit code. */
export function runReplay(args: readonly string[], print: (text: string) => void): number {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        input: { type: 'string' },
        output: { type: 'string' },
        'cache-hit': { type: 'string' },
        'cache-write-5m': { type: 'string' },
        'cache-write-1h': { type: 'string' },
        'context-window': { type: 'string', default: '200000' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const [file] = positionals;
    if (values.help || file === undefined) {
      print(help);
      return values.help ? 0 : 2;
    }
    const price = (name: 'input' | 'output' | 'cache-hit' | 'cache-write-5m' | 'cache-write-1h') => {
      const text = values[name];
      const parsed = text === undefined ? null : parsePrice(text);
      if (text !== undefined && parsed === null) throw new UnusableRecording(`--${name} needs a price such as 2.5`);
      return parsed;
    };
    const [input, output] = [price('input'), price('output')];
    const prices =
      input === null || output === null
        ? null
        : unitPrices({
            input,
            output,
            cacheHit: price('cache-hit') ?? input,
            cacheWrite5m: price('cache-write-5m'),
            cacheWrite1h: price('cache-write-1h'),
          });
    const contextWindow = Number(values['context-window']);
    if (!Number.isSafeInteger(contextWindow) || contextWindow < 1) {
      throw new UnusableRecording('--context-window needs a whole number of tokens');
    }
    const model: ReplayedModel = { prices, contextWindow };
    const replayed = readRecording(textOf(file)).map((recorded) => replay(recorded, model));
    if (replayed.length === 0)
      throw new UnusableRecording('The file has no exchange of a protocol that is known here.');
    print(values.json ? JSON.stringify(replayed, null, 2) : replayed.map(written).join('\n\n'));
    return replayed.some(({ views }) => views.some(({ isFault }) => isFault)) ? 1 : 0;
  } catch (error) {
    const isUsage = error instanceof UnusableRecording || (error instanceof TypeError && 'code' in error);
    if (!isUsage) throw error;
    print(error.message);
    return 2;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UnusableRecording(`The file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`);
  }
}

function written({ upstream, status, isStream, views }: ReplayedExchange, index: number): string {
  const lines = views.map((view) => {
    const { client, outcome, ending, contentBytes, usage, usageSource, costUsd, isFault } = view;
    const pools =
      usage === null
        ? ''
        : Object.entries(usage)
            .map(([name, tokens]) => `${name} ${tokens}`)
            .join(', ');
    const said = [
      `${isFault ? '!' : ' '} ${client.padEnd(16)} ${outcome}`,
      ending === null ? '' : `ended by ${ending}`,
      `${contentBytes} bytes of content`,
      usage === null ? '' : `${pools} (${usageSource})`,
      costUsd === null ? '' : `${costUsd} USD`,
    ];
    return said.filter((part) => part !== '').join('; ');
  });
  return [`${index + 1}. ${upstream}, status ${status}, ${isStream ? 'streamed' : 'whole'}`, ...lines].join('\n');
}

if (import.meta.main)
  process.exitCode = runReplay(process.argv.slice(2), (text) => void process.stdout.write(`${text}\n`));
