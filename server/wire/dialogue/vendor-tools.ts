import {
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  numberValue,
  stringifyJson,
  stringMember,
  typeOf,
} from './json.ts';
import { refuse } from './refusal.ts';

/**
 * What tools that ran at a vendor did in earlier turns, as text for a model of another vendor: a conversation goes on after
 * a switch of model. Their calls and what they found is readable; what is sealed for its vendor is left out.
 */

/**
 * Tools that search, fetch pages, run programs, draw or look for the client's tools at the vendor, under the names that the vendors
 * and other gateways give them. Clients offer them with every request and a model answers without them: where a model of another vendor answers
 * they are left out, and the answer says so. Other tools of vendors hold what a request is about (files, servers) and are
 * refused.
 * Cline 3.0.65 offers `web_search` and `image_generation` to every model of its provider for OpenAI (`@cline/llms`).
 */
const optionalTool =
  /^(?:[a-z]{1,32}:)?(?:web_search|web_fetch|web_extractor|x_search|live_search|browser_search|google_search|url_context|image_generation|code_execution|code_interpreter|tool_search(?:_tool(?:_regex|_bm25)?)?)(?:_preview)?(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/;

export function isOptionalTool(type: Json | undefined): boolean {
  return typeof type === 'string' && optionalTool.test(type);
}

/** Types of optional tools that are named in the header; more say no more. */
const MAX_NAMED = 16;

/**
 * The types of the vendor's optional tools that a request offers, each once: what an answer says was left out. Items of a
 * response's input may add tools.
 */
export function offeredOptionalTools({ tools, input }: JsonObject): string[] {
  const added = Array.isArray(input) ? input.map((item) => (isObject(item) ? item.tools : undefined)) : [];
  const types = [tools, ...added]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((tool) => (isObject(tool) && isOptionalTool(tool.type) ? [typeOf(tool)] : []));
  return [...new Set(types)].slice(0, MAX_NAMED);
}

/** Refuses a choice of a tool that this model's vendor has not. */
export function refuseVendorChoice(at: string): never {
  return refuse(at, "demands a tool that runs at the vendor, which this model's vendor has not");
}

/** Members in which vendors say what a tool found, in the order in which they are given. */
const told = [
  'title',
  'filename',
  'url',
  'error_code',
  'error',
  'message',
  'stdout',
  'stderr',
  'output',
  'logs',
  'text',
];

/** A Messages block of an answer in the history; null for one that has no words. */
export function textOfBlock(block: JsonObject): string | null {
  const type = typeOf(block);
  if (type === 'server_tool_use' || type === 'mcp_tool_use') {
    return callText(stringMember(block, 'name') ?? type, block.input);
  }
  if (type.endsWith('_tool_result')) return resultText(type.slice(0, -'_tool_result'.length), block.content);
  // The vendor's own summary of what came before it; without content it failed and stands for nothing.
  return type === 'compaction' ? (stringMember(block, 'content') ?? '') : null;
}

/** What is said of an item of a response's history: who said it, in which words. */
export interface ToldItem {
  role: 'assistant' | 'user';
  text: string;
}

/** The members of an item that say what was asked of its tool. */
const asked = ['arguments', 'queries', 'code', 'action', 'operation', 'input'];

/** An item of a response's history; null for one that has no words. */
export function textOfItem(item: JsonObject): ToldItem | null {
  const type = typeOf(item);
  if (type.endsWith('_call_output')) {
    return { role: 'user', text: resultText(type.slice(0, -'_call_output'.length), item.output ?? null) };
  }
  const known = ['file_search_call', 'code_interpreter_call', 'mcp_call', 'local_shell_call', 'shell_call'];
  if (!known.includes(type) && type !== 'apply_patch_call') return null;
  const name = stringMember(item, 'name') ?? type.slice(0, -'_call'.length);
  const call = callText(
    name,
    asked.map((member) => item[member]).find((value) => value !== undefined && value !== null),
  );
  const found = [item.results, item.outputs, item.output, item.error].filter(
    (value) => value !== undefined && value !== null,
  );
  return { role: 'assistant', text: found.length === 0 ? call : `${call}\n${resultText(name, found)}` };
}

function callText(name: string, input: Json | undefined): string {
  if (input === undefined) return `[${name}]`;
  return `[${name}: ${typeof input === 'string' ? input : stringifyJson(input)}]`;
}

function resultText(name: string, content: Json | undefined): string {
  const lines: string[] = [];
  collect(content ?? null, lines);
  return [`[${name} result]`, ...lines].join('\n');
}

function collect(value: Json, lines: string[]): void {
  if (typeof value === 'string') lines.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, lines);
  else if (isObject(value)) {
    for (const name of told) {
      const member = value[name];
      if (typeof member === 'string' && member !== '') lines.push(member);
    }
    // A search among the client's tools says the names of those that it found.
    if (value.type === 'tool_reference' && typeof value.tool_name === 'string') lines.push(value.tool_name);
    const code = value.return_code ?? value.exit_code;
    if (isNumber(code) && numberValue(code) !== 0) lines.push(`exit code ${numberValue(code)}`);
    // A document that was fetched has its text one level deeper, beside what says that it is text.
    if (typeof value.data === 'string' && value.type === 'text') lines.push(value.data);
    for (const name of ['content', 'source', 'output', 'outcome', 'tool_references']) {
      const member = value[name];
      if (typeof member === 'object' && member !== null && !isNumber(member)) collect(member, lines);
      else if (name === 'content' && typeof member === 'string') lines.push(member);
    }
  }
}
