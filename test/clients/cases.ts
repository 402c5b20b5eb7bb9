/** The cases that each coding agent goes through. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, cutWindowMs } from './agents.ts';
import { type Customer, type Entry, models, type Protocol, searchingModels } from './gateway.ts';
import type { Asked, Lane } from './lane.ts';
import type { Call } from './tap.ts';

/** What one case found out. No problems: it holds. */
export interface Finding {
  case: string;
  problems: string[];
  /** Requests for answers of models, however they ended. */
  requests: number;
  seconds: number;
  /** The output of the agent, for diagnosis. */
  printed: string;
}

type Case = (lane: Lane) => AsyncGenerator<Finding>;

const protocols = Object.keys(models) as Protocol[];

/** All cases of one agent, in the order in which they are to be run. */
export function casesOf(lane: Lane): Case[] {
  const turns = protocols.map(
    (upstream): Case =>
      (own) =>
        turnWithTool(own, upstream),
  );
  const special: Partial<Record<string, Case[]>> = {
    'Claude Code': [ownCompaction, apiKeyHeader, tokenCounts, longContextSuffix, modelDiscovery, toolSearch],
    Codex: [vendorSearch, overWebSocket, compaction],
    'Cline (Anthropic)': [withoutSearchPrice],
    'Cline (OpenAI)': [withoutSearchPrice],
    opencode: [ownCompaction],
    "OpenRouter's SDK": [otherCalls],
  };
  return [...turns, budget, cutStream, wrongKey, unknownModel, ...(special[lane.agent.name] ?? [])];
}

/** A model that the agent is offered in its own protocol. */
function nativeModel({ agent }: Lane): string {
  return modelOn(agent, agent.protocol);
}

/** The model on an upstream that the agent can be used with as it is. */
function modelOn({ offersSearch, protocol }: Agent, upstream: Protocol): string {
  const searching: Partial<Record<Protocol, string>> = searchingModels;
  return (offersSearch === true && upstream === protocol ? searching[upstream] : undefined) ?? models[upstream];
}

/** The agent's tool writes a file, its result goes back, and the conversation goes on in a new process. */
async function* turnWithTool(lane: Lane, upstream: Protocol): AsyncGenerator<Finding> {
  const { agent, gateway } = lane;
  const model = modelOn(agent, upstream);
  const { email, key } = await gateway.customer('1');
  const directory = await lane.workplace();
  const how = upstream === agent.protocol ? 'as it is' : `as ${upstream}`;
  const path = join(directory, 'greeting.txt');
  const asked = await lane.ask({
    prompt: `[[think Let me write that.]] ${agent.write(path, 'xin chao')}`,
    key,
    model,
    directory,
  });
  const check = checking(`turn with a tool, ${how}`, asked);
  check.exitsWell();
  check.prints('tool done');
  const content = await readFile(path, 'utf8').catch(() => null);
  check.that(content?.trim() === 'xin chao', `its tool did not write the file: ${content ?? 'there is none'}`);
  check.that(check.requests >= 2, 'the result of the tool was never sent');
  await check.ledger(lane, email, (entries) => {
    const own = entries.filter((entry) => entry.model === model);
    check.that(own.length >= 2, `${own.length} entries of ${model}`);
    check.that(
      own.every(({ outcome }) => outcome === 'completed'),
      `outcomes: ${own.map(({ outcome }) => outcome).join(', ')}`,
    );
    const spoken = new Set(entries.map(({ protocol }) => protocol));
    check.that(spoken.size === 1 && spoken.has(agent.protocol), `entries say ${[...spoken].join(', ')}`);
    check.that(
      entries.every(({ charged }) => Number(charged) > 0),
      'an entry was not charged',
    );
  });
  yield check.finding();

  if (agent.goOn === null) return;
  const next = await lane.ask({ prompt: '[[say still with you]]', key, model, directory, goOn: true });
  const more = checking(`next turn of it, ${how}`, next);
  more.exitsWell();
  more.prints('still with you');
  const history = next.calls.find(isForModel)?.body ?? '';
  more.that(history.includes('greeting.txt'), 'what happened before was not sent');
  yield more.finding();
}

/** A budget ends in the middle of an answer; then it is used up; then it is topped up, and the same key works. */
async function* budget(lane: Lane): AsyncGenerator<Finding> {
  const { agent, gateway } = lane;
  const model = nativeModel(lane);
  // Enough for the context of any of these agents and for some of the answer.
  const { email, key } = await gateway.customer(agent.dryUsd ?? '0.04');
  const dry = await lane.ask({ prompt: '[[len 20000]]', key, model });
  const check = checking('budget ends in mid-answer', dry);
  check.ends();
  check.atMost(agent.bounds.runsDry);
  await check.ledger(lane, email, (entries) => {
    const stopped = entries.filter(({ outcome }) => outcome === 'budget_stopped');
    check.that(stopped.length === 1, `outcomes: ${entries.map(({ outcome }) => outcome).join(', ')}`);
  });
  const free = await gateway.free(email);
  check.that(free === '0', `${free} USD are left`);
  yield check.finding();

  const used = await lane.ask({ prompt: 'Say hello to me.', key, model });
  const refused = checking('budget used up', used);
  refused.fails();
  if (agent.showsRefusals) refused.prints(`top up at ${gateway.url}/topup`);
  refused.answers(402);
  refused.atMost(agent.bounds.usedUp);
  yield refused.finding();

  await gateway.topUp(email, '1');
  const again = await lane.ask({ prompt: '[[say welcome back]]', key, model });
  const resumed = checking('topped up, same key', again);
  resumed.exitsWell();
  resumed.prints('welcome back');
  yield resumed.finding();
}

/** Every answer is cut after three events. What matters is how often that is tried again. */
async function* cutStream(lane: Lane): AsyncGenerator<Finding> {
  const { agent, gateway } = lane;
  const { email, key } = await gateway.customer('1');
  const asked = await lane.ask({
    prompt: '[[cut 3]] Say hello.',
    key,
    model: nativeModel(lane),
    windowMs: cutWindowMs,
  });
  const check = checking(`cut streams for ${cutWindowMs / 1_000} s`, asked);
  check.atMost(agent.bounds.cut);
  check.that(check.requests >= 1, 'nothing was sent');
  await check.ledger(lane, email, (entries) => {
    check.that(
      entries.some(({ outcome }) => outcome === 'upstream_cut'),
      `outcomes: ${entries.map(({ outcome }) => outcome).join(', ')}`,
    );
  });
  yield check.finding();
}

async function* wrongKey(lane: Lane): AsyncGenerator<Finding> {
  const { key } = await lane.gateway.customer('1');
  const wrong = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const { retriesWrongKey = false } = lane.agent;
  const asked = await lane.ask({
    prompt: 'Say hello to me.',
    key: wrong,
    model: nativeModel(lane),
    ...(retriesWrongKey ? { windowMs: cutWindowMs } : {}),
  });
  const check = checking(`wrong key${retriesWrongKey ? ` for ${cutWindowMs / 1_000} s` : ''}`, asked);
  if (retriesWrongKey) {
    check.answers(401);
    check.atMost(lane.agent.bounds.wrongKey);
    yield check.finding();
    return;
  }
  check.fails();
  if (lane.agent.showsRefusals) check.prints(lane.agent.saysOfWrongKey ?? 'Invalid API key');
  check.answers(401);
  check.atMost(lane.agent.bounds.wrongKey);
  yield check.finding();
}

async function* unknownModel(lane: Lane): AsyncGenerator<Finding> {
  const { email, key } = await lane.gateway.customer('1');
  const asked = await lane.ask({ prompt: 'Say hello to me.', key, model: 'no-such-model' });
  const check = checking('unknown model', asked);
  check.fails();
  if (lane.agent.showsRefusals) check.prints('Requested model no-such-model is not available in the service');
  check.atMost(lane.agent.bounds.unknownModel);
  await check.ledger(lane, email, (entries) => {
    check.that(!entries.some(({ model }) => model === 'no-such-model'), 'it is in the ledger');
  });
  yield check.finding();
}

/** The vendor's other variable for a key: it travels as `x-api-key`. */
async function* apiKeyHeader(lane: Lane): AsyncGenerator<Finding> {
  const { key } = await lane.gateway.customer('1');
  const asked = await lane.ask({
    prompt: '[[say let in]]',
    key,
    model: nativeModel(lane),
    edit: (text) => text.replace('ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'),
  });
  const check = checking('key as ANTHROPIC_API_KEY', asked);
  check.exitsWell();
  check.prints('let in');
  const { headers } = asked.calls.find(isForModel) ?? {};
  check.that(headers?.['x-api-key'] === key && headers.authorization === undefined, 'it sent the key otherwise');
  yield check.finding();
}

/** Claude Code counts what fills its context, with the models that will read it. */
async function* tokenCounts(lane: Lane): AsyncGenerator<Finding> {
  for (const model of Object.values(models)) {
    const { email, key } = await lane.gateway.customer('1');
    const asked = await lane.ask({ prompt: '/context', key, model });
    const check = checking(`/context, ${model}`, asked);
    check.exitsWell();
    const counts = asked.calls.filter(({ url }) => url === '/api/v1/messages/count_tokens?beta=true');
    check.that(counts.length > 0, 'nothing was counted');
    check.that(
      counts.every(({ status }) => status === 200),
      `counting was answered ${[...new Set(counts.map(({ status }) => status))].join(', ')}`,
    );
    // What README.md sets, in place of the million that it assumes for a model it does not know.
    check.prints('/ 200k');
    await check.ledger(lane, email, (entries) => {
      check.that(entries.length === check.requests, 'counting is in the ledger');
    });
    yield check.finding();
  }
}

async function* longContextSuffix(lane: Lane): AsyncGenerator<Finding> {
  const { key } = await lane.gateway.customer('1');
  const asked = await lane.ask({ prompt: '[[say long enough]]', key, model: `${nativeModel(lane)}[1m]` });
  const check = checking('model with [1m]', asked);
  check.exitsWell();
  check.prints('long enough');
  const betas = String(asked.calls.find(isForModel)?.headers['anthropic-beta']);
  check.that(betas.includes('context-1m-2025-08-07'), `it asked for ${betas}`);
  yield check.finding();
}

/** It lists the models at its start and keeps those with names of its vendor. */
async function* modelDiscovery(lane: Lane): AsyncGenerator<Finding> {
  const { key } = await lane.gateway.customer('1');
  const asked = await lane.ask({
    prompt: '[[say found them]]',
    key,
    model: nativeModel(lane),
    env: { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' },
  });
  const check = checking('model discovery', asked);
  check.exitsWell();
  check.prints('found them');
  const listing = asked.calls.find(({ url }) => url === '/api/v1/models?limit=1000');
  check.that(listing?.status === 200, 'the models were not listed');
  check.that((listing?.answer ?? '').includes(`"${nativeModel(lane)}"`), 'the model is not among them');
  yield check.finding();
}

/** A tool that is loaded only when it is looked for: `defer_loading`, then a `tool_reference` in a result. */
async function* toolSearch(lane: Lane): AsyncGenerator<Finding> {
  for (const model of Object.values(models)) {
    const { key } = await lane.gateway.customer('1');
    const asked = await lane.ask({ prompt: '[[tool ToolSearch {"query":"select:WebFetch"}]]', key, model });
    const check = checking(`tool search, ${model}`, asked);
    check.exitsWell();
    check.prints('tool done');
    const last = asked.calls.findLast(isForModel)?.body ?? '';
    check.that(last.includes('"tool_reference"') && last.includes('"defer_loading":true'), 'it found no tool that way');
    yield check.finding();
  }
}

/** Codex offers its vendor's search with every request. Where nobody knows its price, it is left out. */
async function* vendorSearch(lane: Lane): AsyncGenerator<Finding> {
  for (const model of [...Object.values(models), searchingModels.responses]) {
    const { key } = await lane.gateway.customer('1');
    const asked = await lane.ask({ prompt: '[[say went well]]', key, model });
    const check = checking(`with web search, ${model}`, asked);
    const offered = asked.calls.find(isForModel)?.body ?? '';
    check.that(offered.includes('"web_search"'), 'it was not offered');
    check.exitsWell();
    check.prints('went well');
    yield check.finding();
  }
}

/** Codex keeps one connection for a session where its provider says that it may. */
async function* overWebSocket(lane: Lane): AsyncGenerator<Finding> {
  const edit = (text: string): string => text.replace('wire_api = "responses"', '$&\nsupports_websockets = true');
  for (const model of [...Object.values(models), searchingModels.responses]) {
    const { email, key } = await lane.gateway.customer('1');
    const directory = await lane.workplace();
    const path = join(directory, 'greeting.txt');
    const prompt = lane.agent.write(path, 'xin chao');
    const asked = await lane.ask({ prompt, key, model, directory, edit });
    const check = checking(`over a WebSocket, ${model}`, asked);
    check.exitsWell();
    check.prints('tool done');
    check.that((await readFile(path, 'utf8').catch(() => '')) === 'xin chao', 'its tool did not write the file');
    check.that(check.requests === 0, `${check.requests} requests went over HTTP`);
    const sockets = asked.calls.filter(({ status }) => status === 101);
    // One of them may be made while the program starts, and be given up for that of the session.
    check.that(sockets.length === 1 || sockets.length === 2, `${sockets.length} connections`);
    await check.ledger(lane, email, (entries) => {
      check.that(entries.length === 2, `${entries.length} entries`);
      check.that(
        entries.every(({ outcome, protocol }) => outcome === 'completed' && protocol === 'responses'),
        `outcomes: ${entries.map(({ outcome }) => outcome).join(', ')}`,
      );
    });
    if (model === searchingModels.responses) {
      // Its vendor takes WebSockets: the first turn goes up whole, the result of the tool alone.
      const frames = (await lane.gateway.atVendor()).filter(({ method }) => method === 'WEBSOCKET');
      const whole = frames.findLastIndex(({ body }) => body.includes('[[tool ') && body.includes(path));
      check.that(whole >= 0, 'the turn did not go up over a WebSocket');
      const [, result] = frames.slice(whole);
      check.that(
        result?.body.includes('"previous_response_id":"resp_') === true && !result.body.includes('[[tool '),
        'the result of the tool went up with what was before',
      );
    }
    yield check.finding();
    const next = await lane.ask({ prompt: '[[say still with you]]', key, model, directory, goOn: true, edit });
    const more = checking(`next turn over a WebSocket, ${model}`, next);
    more.exitsWell();
    more.prints('still with you');
    more.that(more.requests === 0, `${more.requests} requests went over HTTP`);
    yield more.finding();
  }
  const wrong = await lane.ask({ prompt: 'Hello.', key: 'sk-wrong', model: nativeModel(lane), edit });
  const refused = checking('wrong key over a WebSocket', wrong);
  refused.fails();
  refused.prints('Invalid API key');
  yield refused.finding();
}

/** As much as makes an agent compact before its next turn, in the words of every protocol. */
const filled = JSON.stringify({
  input_tokens: 150_000,
  prompt_tokens: 150_000,
  output_tokens: 10,
  completion_tokens: 10,
  total_tokens: 150_010,
});

/**
 * Codex compacts by a summary that it asks for itself, or, where its provider is called as the vendor is, by the vendor's own
 * compaction; the session goes on after either, in a new process.
 */
async function* compaction(lane: Lane): AsyncGenerator<Finding> {
  const limited = (text: string): string =>
    text.replace('model_context_window = 200000', '$&\nmodel_auto_compact_token_limit = 100000');
  const ways: [name: string, edit: (text: string) => string][] = [
    ['its own', limited],
    ["the vendor's", (text) => limited(text).replace('name = "Steyg"', 'name = "OpenAI"')],
    [
      "the vendor's over a WebSocket",
      (text) => limited(text).replace('name = "Steyg"', 'name = "OpenAI"\nsupports_websockets = true'),
    ],
  ];
  for (const model of [...Object.values(models), searchingModels.responses]) {
    for (const [name, edit] of ways) {
      const { email, key } = await lane.gateway.customer('5');
      const directory = await lane.workplace();
      await lane.ask({ prompt: `[[usage ${filled}]] [[say noted]]`, key, model, directory, edit });
      const next = await lane.ask({ prompt: '[[say still with you]]', key, model, directory, goOn: true, edit });
      const check = checking(`after ${name} compaction, ${model}`, next);
      check.exitsWell();
      check.prints('still with you');
      const byVendor = next.calls.some(
        ({ url, body }) => url.endsWith('/responses/compact') || body.includes('"compaction_trigger"'),
      );
      // What goes up on a WebSocket is masked.
      if (check.requests > 0) check.that(byVendor === (name !== 'its own'), `by the vendor's compaction: ${byVendor}`);
      const later = await lane.ask({ prompt: '[[say and still]]', key, model, directory, goOn: true, edit });
      check.that(later.code === 0 && later.printed.includes('and still'), `a later turn: ${later.printed.slice(-300)}`);
      const entries = await lane.gateway.ledger(email);
      check.that(entries.length >= 4, `${entries.length} entries: it did not compact`);
      check.that(
        entries.every(({ outcome }) => outcome === 'completed'),
        `outcomes: ${entries.map(({ outcome }) => outcome).join(', ')}`,
      );
      yield check.finding();
    }
  }
}

/** A session that filled its context is summed up by the agent's own request, and goes on. */
async function* ownCompaction(lane: Lane): AsyncGenerator<Finding> {
  const full = filled.replaceAll('150', '198');
  for (const model of Object.values(models)) {
    const { email, key } = await lane.gateway.customer('5');
    const directory = await lane.workplace();
    await lane.ask({ prompt: `[[usage ${full}]] [[say noted]]`, key, model, directory });
    const next = await lane.ask({ prompt: '[[say still with you]]', key, model, directory, goOn: true });
    const check = checking(`after its compaction, ${model}`, next);
    check.exitsWell();
    check.prints('still with you');
    const asked = next.calls.filter(isForModel);
    check.that(
      asked.some(({ body }) => /summar/i.test(body.slice(-20_000))),
      `${asked.length} requests, none of which asks for a summary`,
    );
    check.that(
      asked.every(({ status }) => status === 200),
      `answers: ${asked.map(({ status }) => status).join(', ')}`,
    );
    const outcomes = (await lane.gateway.ledger(email)).map(({ outcome }) => outcome);
    check.that(
      outcomes.every((outcome) => outcome === 'completed'),
      `outcomes: ${outcomes.join(', ')}`,
    );
    yield check.finding();
  }
}

/** Cline's providers for the two vendors offer the vendor's search with every request, for which these models have no price. */
async function* withoutSearchPrice(lane: Lane): AsyncGenerator<Finding> {
  const { key } = await lane.gateway.customer('1');
  const asked = await lane.ask({ prompt: '[[say went well]]', key, model: models[lane.agent.protocol] });
  const check = checking('a search without a price', asked);
  check.exitsWell();
  check.prints('went well');
  yield check.finding();
}

/** The calls of OpenRouter's SDK that a gateway has an answer to, and what it shows of refusals and of calls that it has not. */
async function* otherCalls(lane: Lane): AsyncGenerator<Finding> {
  for (const model of Object.values(models)) {
    const { key } = await lane.gateway.customer('1');
    const asked = await lane.ask({ prompt: '', key, model, env: { WHAT: 'calls' } });
    const check = checking(`its other calls, ${model}`, asked);
    check.exitsWell();
    check.prints('"whole":"whole","credits":1,"usage":"number","count":true');
    check.prints(`"get":"${model}","endpoint":"${model}","generation":"${model}","cost":true`);
    check.prints('"response":"response","streamed":"streamed","callModel":"called"');
    check.prints('"refused":"BadRequestResponseError: ');
    check.prints('This service does not offer this call.');
    for (const id of Object.values(models)) check.prints(`"${id}"`);
    yield check.finding();
  }
}

function isForModel({ method, url }: Call): boolean {
  const { pathname } = new URL(url, 'http://server');
  return method === 'POST' && /\/(messages|chat\/completions|responses)$/.test(pathname);
}

interface Checks {
  requests: number;
  that(holds: boolean, problem: string): void;
  /** Ends by itself, however it ends. */
  ends(): void;
  exitsWell(): void;
  fails(): void;
  prints(text: string): void;
  atMost(requests: number): void;
  /** Every model request got this status. */
  answers(status: number): void;
  /** Looks at the entries of the account, after checking that each request has exactly one. */
  ledger(lane: Lane, email: Customer['email'], look: (entries: Entry[]) => void): Promise<void>;
  finding(): Finding;
}

function checking(name: string, asked: Asked): Checks {
  const problems: string[] = [];
  const forModels = asked.calls.filter(isForModel);
  const that = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  return {
    requests: forModels.length,
    that,
    ends: () => that(!asked.timedOut, 'it did not end'),
    exitsWell: () => that(asked.code === 0, asked.timedOut ? 'it did not end' : `exit code ${asked.code}`),
    fails: () => that(asked.code !== 0 && !asked.timedOut, asked.timedOut ? 'it did not end' : 'exit code 0'),
    // Agents break long lines.
    prints: (text) => that(flat(asked.printed).includes(flat(text)), `it did not print "${text}"`),
    atMost: (requests) =>
      that(
        forModels.length <= requests,
        `${forModels.length} requests, at most ${requests} expected: ${forModels.map(({ atMs, status }) => `${status} at ${atMs}`).join(', ')}`,
      ),
    answers: (status) => {
      const others = forModels.filter((call) => call.status !== status).map((call) => call.status);
      that(forModels.length > 0 && others.length === 0, `expected ${status}, saw ${others.join(', ') || 'no request'}`);
    },
    async ledger({ gateway }, email, look) {
      const entries = await gateway.ledger(email);
      // Refusals have no entry. A request whose answer never began may have been refused or not.
      const admitted = forModels.filter(({ status }) => status === 200 || status >= 500).length;
      // Some of the responses of a WebSocket only warm it up.
      const inSockets = asked.calls
        .filter(({ status }) => status === 101)
        .reduce((sum, { answer }) => sum + answer.split('"type":"response.created"').length - 1, 0);
      const unclear = forModels.filter(({ status }) => status === 0).length + inSockets;
      that(
        entries.length >= admitted && entries.length <= admitted + unclear,
        `${entries.length} entries of ${admitted} requests`,
      );
      look(entries);
    },
    finding: () => ({
      case: name,
      problems,
      requests: forModels.length,
      seconds: asked.seconds,
      printed: asked.printed,
    }),
  };
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
