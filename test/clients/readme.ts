import { readFileSync } from 'node:fs';

/** How a tool is connected, as README.md tells people to. */
export interface Connection {
  /** Lines for a shell. */
  shell: string;
  /** Files by their path below the home directory. */
  files: ReadonlyMap<string, string>;
}

/** What README.md writes where people put their own. */
const written = { baseUrl: 'http://127.0.0.1:8787/api', model: 'sim-large' };

const readmeFile = new URL('../../README.md', import.meta.url);

/**
 * The blocks below a tool's heading in the section "Connect your tools". A block whose introduction ends in a path is
 * that file; any other is for the shell. Throws when there are none.
 */
export function connectionOf(tool: string, readme = readFileSync(readmeFile, 'utf8')): Connection {
  const section = readme.split(/^## /m).find((part) => part.startsWith('Connect your tools\n'));
  const part = section?.split(/^### /m).find((text) => text.startsWith(`${tool}\n`));
  const files = new Map<string, string>();
  const shell: string[] = [];
  for (const [, path, text] of (part ?? '').matchAll(/^(?:.*`~\/([^`]+)`:\n+)?```\w*\n([\s\S]*?)^```$/gm)) {
    if (text === undefined) continue;
    if (path === undefined) shell.push(text);
    else files.set(path, text);
  }
  if (files.size === 0 && shell.length === 0) throw new Error(`README.md does not say how to connect ${tool}`);
  return { shell: shell.join(''), files };
}

/** Replaces what stands for people's own: the address, the model, and in files of recipes the key. In the shell it is `$KEY`. */
export function personalise(
  text: string,
  { baseUrl, model, key }: { baseUrl: string; model: string; key: string },
): string {
  return text.replaceAll(written.baseUrl, baseUrl).replaceAll(written.model, model).replaceAll('YOUR_KEY', key);
}
