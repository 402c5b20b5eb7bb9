import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { memberTables } from '../../server/wire/members.ts';
import { factsWith } from './fixtures.ts';

/** Every item that a response's input may hold is counted by its type, or needs a permission: none is silently free. */

const long = 'owl '.repeat(5_000);
const picture = `data:image/png;base64,${'A'.repeat(20_000)}`;
const call = { call_id: 'c', status: 'completed' };

/** What counts of an item: its bytes as text, a picture, a document, or a permission that it needs. */
type Counts = 'text' | 'image' | 'document' | { gate: string };

const items: Record<string, [item: Record<string, unknown>, counts: Counts][]> = {
  message: [
    [{ role: 'user', content: long }, 'text'],
    [{ role: 'assistant', content: [{ type: 'output_text', text: long }] }, 'text'],
    [{ role: 'user', content: [{ type: 'input_image', image_url: picture }] }, 'image'],
    [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://owls.test/a.pdf' }] }, 'document'],
    [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }, { gate: 'file_id' }],
    [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA' } }] }, { gate: 'input_audio' }],
  ],
  reasoning: [
    [{ id: 'r', summary: [{ type: 'summary_text', text: long }] }, 'text'],
    [{ id: 'r', summary: [], encrypted_content: long }, 'text'],
  ],
  function_call: [[{ ...call, name: 'f', arguments: long }, 'text']],
  function_call_output: [
    [{ ...call, output: long }, 'text'],
    [{ ...call, output: [{ type: 'input_image', image_url: picture }] }, 'image'],
  ],
  custom_tool_call: [[{ ...call, name: 'f', input: long }, 'text']],
  custom_tool_call_output: [
    [{ ...call, output: long }, 'text'],
    [{ ...call, output: [{ type: 'input_file', file_url: 'https://owls.test/a.pdf' }] }, 'document'],
  ],
  web_search_call: [[{ id: 'w', action: { type: 'search', query: long } }, 'text']],
  file_search_call: [[{ id: 'f', queries: ['q'], results: [{ text: long }] }, 'text']],
  computer_call: [[{ ...call, action: { type: 'type', text: long } }, 'text']],
  computer_call_output: [
    [{ ...call, output: { type: 'computer_screenshot', image_url: picture } }, 'image'],
    [{ ...call, output: { type: 'computer_screenshot', file_id: 'file_1' } }, { gate: 'file_id' }],
  ],
  code_interpreter_call: [
    [{ id: 'i', code: long, container_id: 'c', outputs: null }, 'text'],
    [{ id: 'i', code: '', container_id: 'c', outputs: [{ type: 'image', url: picture }] }, 'image'],
  ],
  image_generation_call: [
    [{ id: 'i', status: 'completed', result: 'A'.repeat(20_000) }, 'image'],
    [{ id: 'i', status: 'completed', result: null }, { gate: 'item_reference' }],
    [{ id: 'i' }, { gate: 'item_reference' }],
    [{ id: 'i', status: 'failed', result: null, error: { message: long } }, 'text'],
  ],
  local_shell_call: [[{ ...call, action: { type: 'exec', command: [long] } }, 'text']],
  local_shell_call_output: [[{ id: 'l', output: long }, 'text']],
  shell_call: [[{ ...call, action: { commands: [long] } }, 'text']],
  shell_call_output: [[{ ...call, output: [{ stdout: long, stderr: '', outcome: { type: 'timeout' } }] }, 'text']],
  apply_patch_call: [[{ ...call, operation: { type: 'create_file', path: 'a', diff: long } }, 'text']],
  apply_patch_call_output: [[{ ...call, output: long }, 'text']],
  mcp_list_tools: [
    [{ id: 'm', server_label: 's', tools: [{ name: 'f', input_schema: {}, description: long }] }, 'text'],
  ],
  mcp_approval_request: [[{ id: 'm', arguments: long, name: 'f', server_label: 's' }, 'text']],
  mcp_approval_response: [[{ approval_request_id: 'm', approve: true, reason: long }, 'text']],
  mcp_call: [[{ id: 'm', arguments: '{}', name: 'f', server_label: 's', output: long }, 'text']],
  tool_search_call: [[{ ...call, arguments: { query: long } }, 'text']],
  tool_search_output: [
    [{ ...call, tools: [{ type: 'function', name: 'f', description: long }] }, 'text'],
    [{ ...call, tools: [{ type: 'web_search' }] }, { gate: 'web_search' }],
  ],
  additional_tools: [
    [{ role: 'developer', tools: [{ type: 'function', name: 'f', description: long }] }, 'text'],
    [{ role: 'developer', tools: [{ type: 'code_interpreter', container: 'c' }] }, { gate: 'code_interpreter' }],
  ],
  configuration_update: [[{ text: { format: { type: 'json_schema', name: 'n', schema: { title: long } } } }, 'text']],
  compaction: [[{ encrypted_content: long }, 'text']],
  compaction_trigger: [[{ id: long }, 'text']],
  item_reference: [[{ id: 'x' }, { gate: 'item_reference' }]],
  program: [[{ id: 'p', ...call, code: long, fingerprint: 'x' }, 'text']],
  program_output: [[{ id: 'p', ...call, result: long }, 'text']],
};

const factsOf = (item: Record<string, unknown>) => factsWith('responses', { input: [item] });

describe.each(Object.entries(items))('an item of type %s', (type, cases) => {
  test.each(cases)('%#: is counted, or needs a permission', (item, counts) => {
    const { gates, images, documents, textBytes } = factsOf({ type, ...item });
    const names = gates.map(({ name }) => name);
    const media = { image: [1, 0], document: [0, 1], text: [0, 0] };
    const expected = typeof counts === 'object' ? [[counts.gate], images, documents] : [[], ...media[counts]];
    expect([names, images, documents]).toEqual(expected);
    // A picture is counted by its size and not by the length of its spelling.
    const [least, most] = counts === 'text' ? [long.length, 2 * long.length] : [0, 2_000];
    expect(textBytes).toBeGreaterThan(least);
    expect(textBytes).toBeLessThan(most);
  });

  test('is known', () => expect(factsOf({ type, ...cases[0]?.[0] }).unknownMembers).toEqual([]));
});

test('these are the items that the published client library declares, and those of the table', () => {
  const declared = declaredItems();
  expect(declared.length).toBeGreaterThan(25);
  expect(Object.keys(items).toSorted()).toEqual(declared);
  expect(Object.keys(memberTables.responses.items ?? {}).toSorted()).toEqual(declared);
});

test('an item of an unknown type is named by the scan', () => {
  expect(factsOf({ type: 'hologram', content: long })).toMatchObject({ unknownMembers: ['hologram'] });
});

/** The types of the union `ResponseInputItem`. */
function declaredItems(): string[] {
  const file = new URL('../../node_modules/openai/resources/responses/responses.d.ts', import.meta.url);
  const source = readFileSync(file, 'utf8').replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  const union = /export type ResponseInputItem = ([^;]+);/.exec(source)?.[1] ?? '';
  const within = source.slice(source.indexOf('export declare namespace ResponseInputItem {'));
  const types = union.split('|').map((member) => {
    const name = member.trim();
    const nested = name.startsWith('ResponseInputItem.');
    const text = nested ? within : source;
    const indent = nested ? '    ' : '';
    const start = text.indexOf(`\n${nested ? '    ' : 'export '}interface ${name.replace('ResponseInputItem.', '')} {`);
    const body = text.slice(start, text.indexOf(`\n${indent}}`, start));
    const type = new RegExp(`^${indent} {4}type\\??: '(\\w+)'`, 'm').exec(body)?.[1];
    if (start < 0 || type === undefined) throw new Error(`${name} is not declared as expected`);
    return type;
  });
  return [...new Set(types)].toSorted();
}
