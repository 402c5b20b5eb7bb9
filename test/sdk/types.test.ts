/** The types of the SDK's public surface. */

import {
  type Answer,
  type ApiError,
  type BudgetError,
  type ChatCompletion,
  type ChatCompletionChunk,
  type ChatStream,
  type ElementOf,
  type Failure,
  isFailure,
  type LedgerEntry,
  type ListKeysAnswer,
  type MessageStream,
  type MessagesEvent,
  type MessagesResponse,
  type ModelList,
  orThrow,
  type Pending,
  type ResponseStream,
  type ResponsesEvent,
  type ServerError,
  type Steyg,
  type SteygError,
  type SteygEvent,
  type Success,
  type TypedDocument,
  type UsageReport,
  type verifyReceipt,
} from '@steyg/sdk';
import type { Connection, ConnectRequest, ToolName } from '@steyg/sdk/connect';
import type { Diagnosis } from '@steyg/sdk/doctor';
import { describe, expectTypeOf, it } from 'vitest';

// `npm run types` decides these; running them proves nothing by itself.

const messages = [{ role: 'user' as const, content: 'x' }];
const request = { model: 'm', max_tokens: 1, messages };

describe('what methods return', () => {
  type Create = Steyg['messages']['create'];

  it('is told by `stream`', () => {
    expectTypeOf<Steyg['chat']['completions']['stream']>().returns.toEqualTypeOf<ChatStream>();
    expectTypeOf<Steyg['responses']['stream']>().returns.toEqualTypeOf<ResponseStream>();
    const kinds = (steyg: Steyg, sometimes: boolean) => ({
      whole: steyg.messages.create(request),
      streamed: steyg.messages.create({ ...request, stream: true }),
      either: steyg.messages.create({ ...request, stream: sometimes }),
      completion: steyg.chat.completions.create({ model: 'm', messages }),
    });
    type Kinds = ReturnType<typeof kinds>;
    expectTypeOf<Kinds['whole']>().toEqualTypeOf<Pending<Answer<MessagesResponse>>>();
    expectTypeOf<Kinds['streamed']>().toEqualTypeOf<Pending<MessageStream>>();
    expectTypeOf<Kinds['either']>().toEqualTypeOf<Pending<Answer<MessagesResponse>> | Pending<MessageStream>>();
    expectTypeOf<Kinds['completion']>().resolves.toEqualTypeOf<Answer<ChatCompletion>>();
    expectTypeOf<Create>().parameter(0).toHaveProperty('max_tokens');
  });

  it('hands out the response on demand', () => {
    expectTypeOf<Awaited<ReturnType<ReturnType<Steyg['models']['list']>['withResponse']>>>().toEqualTypeOf<{
      data: ModelList;
      response: Response;
      requestId: string | null;
    }>();
  });

  it('is exact about money', () => {
    expectTypeOf<Answer<MessagesResponse>['steyg']['costUsd']>().toEqualTypeOf<string | null>();
    expectTypeOf<UsageReport['balance']['freeUsd']>().toBeString();
    expectTypeOf<LedgerEntry>().toExtend<Parameters<typeof verifyReceipt>[0]>();
    type ConsoleEntry = NonNullable<Awaited<ReturnType<Steyg['console']['ledger']['entry']>>>;
    expectTypeOf<ConsoleEntry>().toExtend<Parameters<typeof verifyReceipt>[0]>();
    expectTypeOf<ReturnType<typeof verifyReceipt>['costPico']>().toEqualTypeOf<bigint>();
  });
});

describe('events', () => {
  it('can be told apart', () => {
    expectTypeOf<Extract<MessagesEvent, { type: 'content_block_start' }>['index']>().toBeNumber();
    const narrow = (event: ResponsesEvent) => {
      if (event.type === 'response.output_text.delta') expectTypeOf(event.delta).toBeString();
      if (event.type === 'response.completed') expectTypeOf(event.response.status).toBeString();
    };
    expectTypeOf(narrow).parameter(0).toEqualTypeOf<ResponsesEvent>();
    expectTypeOf<ChatCompletionChunk['choices'][number]['delta']['content']>().toEqualTypeOf<
      string | null | undefined
    >();
    expectTypeOf<Extract<SteygEvent, { type: 'response' }>['status']>().toBeNumber();
    expectTypeOf<Extract<SteygEvent, { type: 'retry' }>>().not.toHaveProperty('status');
  });
});

describe('errors', () => {
  it('stand in one line', () => {
    expectTypeOf<BudgetError>().toExtend<ApiError>();
    expectTypeOf<ServerError>().toExtend<ApiError>();
    expectTypeOf<ApiError>().toExtend<SteygError>();
    expectTypeOf<BudgetError['affordableMaxTokens']>().toEqualTypeOf<number | null>();
  });
});

describe('the control plane', () => {
  type CreateKey = Awaited<ReturnType<Steyg['console']['keys']['createKey']>>;

  it('has results and errors that can be told apart', () => {
    expectTypeOf<Success<CreateKey>['__typename']>().toEqualTypeOf<'NewApiKey'>();
    expectTypeOf<Failure<CreateKey>['message']>().toBeString();
    expectTypeOf<Extract<CreateKey, { __typename: 'InputError' }>['problems']>().toBeArray();
    const narrow = (result: CreateKey) => {
      if (isFailure(result)) expectTypeOf(result.code).toBeString();
      else expectTypeOf(result.secret).toBeString();
      return orThrow(result).key.name;
    };
    expectTypeOf(narrow).returns.toBeString();
  });

  it('has lists, by page and by element', () => {
    type List = ReturnType<Steyg['console']['keys']['listKeys']>;
    expectTypeOf<List>().resolves.toEqualTypeOf<ListKeysAnswer>();
    expectTypeOf<ElementOf<ListKeysAnswer>['name']>().toBeString();
    expectTypeOf<List>().toExtend<AsyncIterable<ElementOf<ListKeysAnswer>>>();
    type Row = ElementOf<Awaited<ReturnType<Steyg['console']['ledger']['usage']>>>;
    expectTypeOf<Row['cost']>().toBeString();
  });

  it('is null below what may be null, and takes variables as the schema has them', () => {
    expectTypeOf<Awaited<ReturnType<Steyg['console']['ledger']['budget']>>>().extract<null>().toBeNull();
    type Orders = Steyg['console']['orders'];
    expectTypeOf<Orders['orderStatus']>().parameter(0).toEqualTypeOf<{ id: string }>();
    expectTypeOf<ReturnType<Orders['orderStatus']>>().toExtend<AsyncIterable<{ status: string | null }>>();
    expectTypeOf<Steyg['console']['keys']['listKeys']>().parameter(0).extract<undefined>().toBeUndefined();
  });

  it('types documents of one’s own', () => {
    const own = (steyg: Steyg, document: TypedDocument<{ a: 1 }, { b: string }>) => steyg.graphql(document, { b: '' });
    expectTypeOf(own).returns.resolves.toEqualTypeOf<{ a: 1 }>();
    // What code generators give documents.
    type Generated = string & { __apiType?: (variables: { b: string }) => { a: 1 } };
    expectTypeOf<Generated>().toExtend<TypedDocument<{ a: 1 }, { b: string }>>();
  });
});

describe('connect and doctor', () => {
  it('say what they take and give', () => {
    expectTypeOf<ConnectRequest['tool']>().toEqualTypeOf<ToolName>();
    expectTypeOf<Connection['files'][number]['merge']>().toEqualTypeOf<(existing: string) => string>();
    expectTypeOf<Diagnosis['findings'][number]['level']>().toEqualTypeOf<'ok' | 'warning' | 'error' | 'skipped'>();
  });
});
