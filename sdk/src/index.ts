/**
 * Client of the Steyg gateway.
 *
 * @packageDocumentation
 */

export type { CreditsOverview, Key, Models, Usage, UsageFilter, UsageRow, UsageSubject } from './account.ts';
export type * from './amounts.ts';
export type { Chat, ChatCompletions, ChatStream } from './chat.ts';
export { Steyg } from './client.ts';
export {
  type ElementOf,
  type Failure,
  isFailure,
  orThrow,
  type Paged,
  ResultError,
  type Subscription,
  type Success,
} from './console.ts';
export type { AiSdkSettings, AnthropicOptions, OpenAiOptions } from './drop-in.ts';
export type { Embeddings } from './embeddings.ts';
export {
  AbortedError,
  ApiError,
  type ApiErrorFacts,
  AuthenticationError,
  BadRequestError,
  BudgetError,
  type BudgetFigures,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  ConnectionTimeoutError,
  InternalServerError,
  InvalidAnswerError,
  type KeyLimitFigures,
  NotFoundError,
  NotSupportedError,
  OverloadedError,
  PermissionError,
  RateLimitError,
  RequestTimeoutError,
  RequestTooLargeError,
  ServerError,
  SteygError,
  StreamError,
  StreamInterruptedError,
  UnavailableError,
  UnprocessableError,
  UnsupportedMediaTypeError,
  UpstreamError,
  UpstreamTimeoutError,
} from './errors.ts';
export type * from './generated/console.ts';
export type * from './generated/console-types.ts';
export type * from './generated/rest.ts';
export { GraphqlError, type GraphqlProblem, type TypedDocument } from './graphql.ts';
export type { ImageStream, Images } from './images.ts';
export type { Answer, CallFacts } from './internal/data-plane.ts';
export type { Pending, WithResponse } from './internal/pending.ts';
export type { MessageStream, Messages } from './messages.ts';
export type { EventFacts, Fetch, RequestOptions, SteygEvent, SteygOptions } from './options.ts';
export { type Receipt, type ReceiptCheck, type ReceiptWithLines, verifyReceipt } from './receipt.ts';
export type { ResponseStream, Responses } from './responses.ts';
export type { CallCost, ModelStream } from './streams.ts';
