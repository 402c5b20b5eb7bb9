import { checkNames } from '../internal/names.ts';
import type { Connection } from './connection.ts';

/**
 * A connection as text for people. The key is masked unless `showKey` says otherwise.
 *
 * @example
 * ```ts
 * console.log(renderConnection(connect(request)));
 * ```
 */
export function renderConnection(connection: Connection, options: { showKey?: boolean } = {}): string {
  checkNames('option', options, ['showKey']);
  const { showKey = false } = options;
  const { title, baseUrl, files, environment, commands, code, steps, notes } = connection;
  const sections = [
    `${title}\n${'='.repeat(title.length)}\nBase address: ${baseUrl}`,
    ...files.map(({ path, content, holdsKey }) =>
      section(`${path}${holdsKey ? '  (holds the key: never commit it)' : ''}`, content),
    ),
    section('Environment', environment.map(({ name, value }) => `export ${name}=${shellWord(value)}`).join('\n')),
    section('Commands', commands.join('\n')),
    ...code.map(({ language, text }) => section(language, text)),
    section('By hand', steps.map((step, index) => `${index + 1}. ${step}`).join('\n')),
    section('To know', notes.map((note) => `- ${note}`).join('\n')),
  ];
  const text = `${sections.filter((each) => each !== '').join('\n\n')}\n`;
  if (showKey) return text;
  const masked = maskKeys(text, secretsOf(connection));
  return masked === text
    ? text
    : `${masked}\n(The key is masked here: --show-key prints it, --write puts it where it belongs.)\n`;
}

/** @internal Every text that could contain the key, with the key masked, and anything else that looks like one. */
export function maskKeys(text: string, secrets: readonly string[]): string {
  const mask = (secret: string) => `…${secret.slice(-4)}`;
  return secrets
    .reduce((masked, secret) => masked.replaceAll(secret, mask(secret)), text)
    .replaceAll(/\b(?:sk|tk|pk)-[A-Za-z0-9_-]{16,}/g, mask);
}

/** @internal */
export function secretsOf({ environment, files }: Connection): string[] {
  const keys = environment.filter(({ secret }) => secret).map(({ value }) => value);
  const inFiles = files.flatMap(({ content }) => content.match(/sk-steyg-\w+/g) ?? []);
  return [...new Set([...keys, ...inFiles])].filter((each) => each !== 'YOUR_STEYG_API_KEY');
}

function section(title: string, body: string): string {
  return body === '' ? '' : `${title}\n${'-'.repeat(title.length)}\n${body.trimEnd()}`;
}

/** @internal A word that shells take as it is. */
export const shellWord = (value: string): string =>
  /^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
