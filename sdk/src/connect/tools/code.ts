import type { Connection, ToolName } from '../connection.ts';
import { keyInEnvironment, keyVariable, type Parts } from './parts.ts';

/** Libraries: source code in place of settings. Address and key are always handed over, never left to variables. */

const key = `process.env.${keyVariable}`;
const quoted = (text: string) => `'${text}'`;

const perClient =
  'Address and key are constructor parameters on purpose: environment variables would apply to every client of the process, also to those that call another provider.';

function library(
  parts: Parts,
  facts: Pick<Connection, 'title' | 'baseUrl' | 'notes'> & {
    tool: ToolName;
    install: string;
    code: Connection['code'];
  },
): Connection {
  const { install, ...rest } = facts;
  return { ...rest, files: [], environment: [keyInEnvironment(parts)], commands: [install], steps: [] };
}

export function openaiSdk(parts: Parts): Connection {
  return library(parts, {
    tool: 'openai-sdk',
    title: 'OpenAI SDK',
    baseUrl: parts.versionedUrl,
    install: 'npm install openai',
    code: [
      {
        language: 'ts',
        text: [
          `import OpenAI from 'openai';`,
          '',
          `const openai = new OpenAI({ baseURL: ${quoted(parts.versionedUrl)}, apiKey: ${key} });`,
          'const completion = await openai.chat.completions.create({',
          `  model: ${quoted(parts.models.main)},`,
          `  messages: [{ role: 'user', content: 'ping' }],`,
          '});',
          'console.log(completion.choices[0]?.message.content);',
        ].join('\n'),
      },
      {
        language: 'python',
        text: [
          'import os',
          'from openai import OpenAI',
          '',
          `client = OpenAI(base_url="${parts.versionedUrl}", api_key=os.environ["${keyVariable}"])`,
          'completion = client.chat.completions.create(',
          `    model="${parts.models.main}", messages=[{"role": "user", "content": "ping"}]`,
          ')',
          'print(completion.choices[0].message.content)',
        ].join('\n'),
      },
    ],
    notes: [
      perClient,
      'The variable is OPENAI_BASE_URL where one is wanted; current versions do not read OPENAI_API_BASE.',
    ],
  });
}

export function anthropicSdk(parts: Parts): Connection {
  return library(parts, {
    tool: 'anthropic-sdk',
    title: 'Anthropic SDK',
    baseUrl: parts.baseUrl,
    install: 'npm install @anthropic-ai/sdk',
    code: [
      {
        language: 'ts',
        text: [
          `import Anthropic from '@anthropic-ai/sdk';`,
          '',
          'const anthropic = new Anthropic({',
          `  baseURL: ${quoted(parts.baseUrl)},`,
          `  authToken: ${key},`,
          '  apiKey: null,',
          '});',
          'const message = await anthropic.messages.create({',
          `  model: ${quoted(parts.models.main)},`,
          '  max_tokens: 512,',
          `  messages: [{ role: 'user', content: 'ping' }],`,
          '});',
          'console.log(message.content);',
        ].join('\n'),
      },
      {
        language: 'python',
        text: [
          'import os',
          'from anthropic import Anthropic',
          '',
          `client = Anthropic(base_url="${parts.baseUrl}", auth_token=os.environ["${keyVariable}"])`,
          'message = client.messages.create(',
          `    model="${parts.models.main}", max_tokens=512, messages=[{"role": "user", "content": "ping"}]`,
          ')',
          'print(message.content)',
        ].join('\n'),
      },
    ],
    notes: [perClient, 'This client appends /v1 itself: its base address has none.'],
  });
}

export function aiSdk(parts: Parts): Connection {
  return library(parts, {
    tool: 'ai-sdk',
    title: 'AI SDK',
    baseUrl: parts.versionedUrl,
    install: 'npm install ai @ai-sdk/openai-compatible @ai-sdk/anthropic',
    code: [
      {
        language: 'ts',
        text: [
          `import { createAnthropic } from '@ai-sdk/anthropic';`,
          `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';`,
          `import { generateText } from 'ai';`,
          '',
          `const address = { baseURL: ${quoted(parts.versionedUrl)} };`,
          `const steyg = createOpenAICompatible({ ...address, name: 'steyg', apiKey: ${key}, includeUsage: true });`,
          `const messages = createAnthropic({ ...address, authToken: ${key} });`,
          '',
          `const first = await generateText({ model: steyg(${quoted(parts.models.main)}), prompt: 'ping' });`,
          `const second = await generateText({ model: messages(${quoted(parts.models.main)}), prompt: 'ping' });`,
          'console.log(first.text, second.text);',
        ].join('\n'),
      },
    ],
    notes: ['Both providers take the address with /v1, the Anthropic one too, unlike the vendor’s own client.'],
  });
}

export function langchain(parts: Parts): Connection {
  return library(parts, {
    tool: 'langchain',
    title: 'LangChain',
    baseUrl: parts.versionedUrl,
    install: 'npm install @langchain/openai @langchain/anthropic @langchain/core',
    code: [
      {
        language: 'ts',
        text: [
          `import { ChatAnthropic } from '@langchain/anthropic';`,
          `import { ChatOpenAI } from '@langchain/openai';`,
          '',
          'const chat = new ChatOpenAI({',
          `  model: ${quoted(parts.models.main)},`,
          `  apiKey: ${key},`,
          `  configuration: { baseURL: ${quoted(parts.versionedUrl)} },`,
          '});',
          'const messages = new ChatAnthropic({',
          `  model: ${quoted(parts.models.main)},`,
          `  apiKey: ${key},`,
          `  anthropicApiUrl: ${quoted(parts.baseUrl)},`,
          '});',
          `console.log((await chat.invoke('ping')).text, (await messages.invoke('ping')).text);`,
        ].join('\n'),
      },
    ],
    notes: [perClient, 'The address has /v1 for ChatOpenAI and none for ChatAnthropic.'],
  });
}

export function curl(parts: Parts): Connection {
  const body = (fields: object) => JSON.stringify({ model: parts.models.main, ...fields });
  const messages = [{ role: 'user', content: 'ping' }];
  const authorization = `-H "authorization: Bearer $${keyVariable}" -H 'content-type: application/json'`;
  return {
    tool: 'curl',
    title: 'curl',
    baseUrl: parts.baseUrl,
    files: [],
    environment: [keyInEnvironment(parts)],
    commands: [
      `curl '${parts.baseUrl}/v1/messages' ${authorization} -H 'anthropic-version: 2023-06-01' -d '${body({ max_tokens: 512, messages })}'`,
      `curl '${parts.versionedUrl}/chat/completions' ${authorization} -d '${body({ messages })}'`,
    ],
    code: [],
    steps: [],
    notes: ['A JSON answer with "content" (first) or "choices" (second) means that address and key are right.'],
  };
}
