// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

import type { UsdAmount, VndAmount } from '../amounts.ts';

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** What is to change about the limits of an account; what is left out stays. */
export type AccountLimitsInput = {
  /** Which account; left out: your only or oldest one. */
  accountId?: string | null | undefined;
  /** Networks (CIDR) or addresses that it may be used from; empty: all. */
  addresses?: Array<string> | null | undefined;
  /** Requests that it may run at once; null: the limit of the service. */
  maxConcurrent?: number | null | undefined;
  /** Requests in a minute, 1 to 1000000; null: the limit of the service. */
  requestsPerMinute?: number | null | undefined;
  /** All spending limits anew. */
  spend?: SpendLimitsInput | null | undefined;
  /** IANA name of a time zone, e.g. Asia/Ho_Chi_Minh: where its days begin. */
  timeZone?: string | null | undefined;
  /** Tokens that it may use in a minute; null: no limit. */
  tokensPerMinute?: number | null | undefined;
};

/** Whether an account may send requests. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type AccountStatus =
  /** Requests are taken. */
  | 'ACTIVE'
  /** An operator has stopped the account. */
  | 'SUSPENDED';

/** What to say. Either `incidentId` or `announcementId` is given. */
export type AddStatusUpdateInput = {
  /** The announcement that it is about. */
  announcementId?: string | null | undefined;
  /** In English; line breaks make paragraphs. */
  body: string;
  /** In Vietnamese. */
  bodyVi?: string | null | undefined;
  /** The measured incident that it is about. */
  incidentId?: string | null | undefined;
  /** How far it has come. */
  state: StatusUpdateState;
};

export type AddUpstreamModelsInput = {
  /** Its base address. */
  baseUrl: string;
  /** On what the vendor charges, such as `15%`. A model that is sold already keeps its price. */
  markup: string;
  /** The models; the first one is tried. */
  models: Array<NewModelInput>;
  /** Its vendor, as in `vendorProfiles`; left out: none that is known. */
  profile?: string | null | undefined;
  /** What it speaks. */
  protocol: Protocol;
  /** The key: write-only. Left out: the vendor takes none. */
  secret?: string | null | undefined;
  /** The name of the upstream; one that is there is kept. */
  upstreamId: string;
};

export type AddVendorInput = {
  /** On the list prices, such as `15%`. A model that is sold already keeps its price. */
  markup: string;
  /** Their `modelId`s. */
  models: Array<string>;
  /** Its key, in place of those it has: write-only, tried at the vendor before it is stored. Left out: it has one. */
  secret?: string | null | undefined;
  /** Which vendor. */
  vendorId: string;
};

/** What to tell everybody. Texts are plain: they are shown as they are. */
export type AnnounceInput = {
  /** In English; line breaks make paragraphs. */
  body: string;
  /** In Vietnamese. */
  bodyVi?: string | null | undefined;
  /** When it ends; left out: not known yet. */
  endsAt?: string | null | undefined;
  /** What it is about. */
  kind: AnnouncementKind;
  /** Catalog ids that it is about; left out: the whole service. */
  modelIds?: Array<string> | null | undefined;
  /** When it begins; left out: now. */
  startsAt?: string | null | undefined;
  /** In one line, in English. */
  title: string;
  /** In one line, in Vietnamese. */
  titleVi?: string | null | undefined;
};

/** What an announcement is about. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type AnnouncementKind =
  /** Something that is wrong. */
  | 'INCIDENT'
  /** Something to know. */
  | 'INFO'
  /** Planned work. */
  | 'MAINTENANCE';

export type ApproveMachineLoginInput = {
  /** Whose key; left out: your only or oldest account. */
  accountId?: string | null | undefined;
  /** The code that the machine shows. */
  code: string;
  /** What it may spend. */
  limits: SpendLimitsInput;
  /** What people call the key: the machine’s name. */
  name: string;
  /** The project that it lies in; left out: none. */
  projectId?: string | null | undefined;
};

/** What usage is added up by. */
export type AttributionKind =
  /** Sessions of client programs. */
  | 'SESSION'
  /** Tags; a request with several counts for each. */
  | 'TAG'
  /** End users that clients name. */
  | 'USER';

/** What an account has stored of whom its requests are for. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type AttributionMode =
  /** Keyed digests: equal ids have equal digests, and none can be read. Names of tags are readable. */
  | 'DIGESTS'
  /** Nothing. */
  | 'OFF'
  /** Sessions, users and values of tags as clients send them. An API key reads those of its project by `GET /v1/usage`, and one that lies in no project those of the whole account. */
  | 'PLAIN'
  /** Tags of the header `x-steyg-tags` as they are sent; sessions, users and metadata of request bodies as keyed digests. What new accounts have. */
  | 'TAGS';

/** Whose words a batch was asked for in. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type BatchForm =
  /** As Anthropic has it: `/v1/messages/batches`. */
  | 'MESSAGES'
  /** As OpenAI has it: `/v1/batches` with a file of lines. */
  | 'OPENAI';

/** How far a batch is. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type BatchState =
  /** The vendor was asked to stop it. */
  | 'CANCELING'
  /** The vendor has ended it; its lines are charged as their results are read. */
  | 'ENDED'
  /** The vendor never ran it, and nothing is charged. */
  | 'FAILED'
  /** The vendor runs it. */
  | 'IN_PROGRESS'
  /** Its money is held, and the vendor has not confirmed it yet. */
  | 'PREPARING';

/** Why a vendor’s bill may differ from the ledger. */
export type BillCause =
  /** The route does not say what requests cost. */
  | 'COST_UNKNOWN'
  /** One side has a multiple of the other, or what was cached is new input as well. */
  | 'COUNTED_TWICE'
  /** Tokens of the ledger are estimates. */
  | 'ESTIMATED'
  /** One side has nothing of the model. */
  | 'MISSING_MODEL'
  /** Equal tokens at another price. */
  | 'PRICE'
  /** The day beside it makes up for it. */
  | 'TIME_ZONE'
  /** Requests without usage are billed. */
  | 'UNPAID';

/** A step of bonuses. */
export type BonusStepInput = {
  /** How much of the budget, in hundredths of a percent. */
  basisPoints: number;
  /** From which price on. */
  fromVnd: VndAmount;
};

/** What an adviser gets of a month beside its lines. */
export type BookPaper =
  /** What customers have paid in advance and are owed, by account. */
  | 'ADVANCES'
  /** Double entry with the operator’s own numbers of accounts. */
  | 'JOURNAL'
  /** Receipts and credit notes, by numbers without gaps, with their VAT. */
  | 'PAPERS';

/** The most that a key may spend within any so many minutes. */
export type BurnLimitInput = {
  /** The most. */
  amount: UsdAmount;
  /** The length of the window, 1 to 1440. */
  minutes: number;
};

/** Which notices of the business operators get; what is left out stays. */
export type BusinessNoticeSettingsInput = {
  /** Sends a notice when a vendor’s bill is still missing this many days after a day with usage: 1 to 45. */
  billDays?: number | null | undefined;
  /** Sends a notice when a vendor’s bill differs from the ledger by more than this: 1 to 100 percent. */
  billPercent?: number | null | undefined;
  /** Whether operators get mails. */
  mail?: boolean | null | undefined;
  /** Sends a notice when the margin of 24 hours is lower; null: never. */
  marginPercent?: number | null | undefined;
  /** Kinds that are not wanted. */
  muted?: Array<NoticeKind> | null | undefined;
  /** Minute of the day from which nothing is sent, e.g. 1320 for 22:00; null: at no time. */
  quietFrom?: number | null | undefined;
  /** Minute of the day from which it is sent again, as one summary. */
  quietTo?: number | null | undefined;
  /** Sends a notice when the shortfall of an hour is larger. */
  shortfall?: UsdAmount | null | undefined;
  /** Zone of the quiet hours, e.g. `Asia/Ho_Chi_Minh`. */
  timeZone?: string | null | undefined;
};

/** Where cached tokens are counted. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type CachedTokensPlace =
  /** Beside it. */
  | 'BESIDE'
  /** Read and written within, even where the same tokens are in both. */
  | 'OVERLAPPING'
  /** Within the prompt’s count. */
  | 'WITHIN';

/** Something that is charged by the piece. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type ChargedUnit =
  /** An image. */
  | 'IMAGE'
  /** A minute; begun ones count whole. */
  | 'MINUTE'
  /** A search that the vendor makes. */
  | 'SEARCH';

/** The company that an account buys for. */
export type CompanyInput = {
  /** Its address. */
  address?: string | null | undefined;
  /** Its name. */
  name: string;
  /** Its tax code (MST): 10 digits, 10 and 3 with a hyphen, or 12. */
  taxCode?: string | null | undefined;
};

export type CreateAccessTokenInput = {
  /** For which account; left out: your only or oldest one. */
  accountId?: string | null | undefined;
  /** When it ends; left out: never. */
  expiresAt?: string | null | undefined;
  /** What people call it. */
  name: string;
  /** What it may do. */
  scopes: Array<TokenScope>;
};

export type CreateBookPaperDownloadInput = {
  /** Such as `2026-10`. */
  month: string;
  /** Which paper. */
  paper: BookPaper;
};

/** Redemption codes to make. Either an amount or a plan is given. */
export type CreateCodesInput = {
  /** What each redemption gives. */
  amount?: UsdAmount | null | undefined;
  /** How many codes, at most 1000. */
  count: number;
  /** Until when they can be redeemed; left out: no end. */
  expiresAt?: string | null | undefined;
  /** What they are for; operators see it. */
  name: string;
  /** The plan whose budget and validity each redemption gives. */
  planId?: string | null | undefined;
  /** How many accounts can redeem each. */
  uses?: number | null | undefined;
  /** Days until what was given expires; left out: never. */
  validDays?: number | null | undefined;
};

export type CreateKeyInput = {
  /** Whose key; left out: your only or oldest account. */
  accountId?: string | null | undefined;
  /** Networks (CIDR) or addresses that it may be used from; empty: all. */
  addresses?: Array<string> | null | undefined;
  /** What stops it when it spends too fast. */
  burnLimit?: BurnLimitInput | null | undefined;
  /** When it ends; left out: never. */
  expiresAt?: string | null | undefined;
  /** Asking again with the same key and input makes no second one; the secret is then not shown again. */
  idempotencyKey?: string | null | undefined;
  /** What it may spend. */
  limits?: SpendLimitsInput | null | undefined;
  /** Requests that it may run at once; null: the limit of the service. */
  maxConcurrent?: number | null | undefined;
  /** Catalog ids that it may call; left out or empty: all. */
  models?: Array<string> | null | undefined;
  /** What people call it. */
  name?: string | null | undefined;
  /** Whom it belongs to; left out: the account. Keys of people with the role `MEMBER` always belong to themselves. */
  owner?: KeyOwner | null | undefined;
  /** The project that it lies in; left out: none. */
  projectId?: string | null | undefined;
  /** Requests that it may make in a minute, 1 to 1000000; left out or null: the limit of the service. */
  requestsPerMinute?: number | null | undefined;
  /** Tokens that it may use in a minute; null: no limit. */
  tokensPerMinute?: number | null | undefined;
};

export type CreateNoticeChannelInput = {
  /** Whose; left out: your only or oldest account. Not for the business. */
  accountId?: string | null | undefined;
  /** What it leads to. */
  kind: NoticeChannelKind;
  /** What is sent there; empty: everything. */
  kinds?: Array<NoticeKind> | null | undefined;
  /** Language of the messages; left out: `EN`. */
  language?: Language | null | undefined;
  /** What people call it. */
  name: string;
  /** Telegram: the token of the bot. Slack, Discord, webhook: the address. Zalo: a refresh token. Write-only. */
  secret: string;
  /** Telegram: id of the chat or `@channel`. Zalo: id of the user. Otherwise empty. */
  target?: string | null | undefined;
  /** Zalo: id of the application that the Official Account permitted. */
  zaloAppId?: string | null | undefined;
  /** Zalo: secret of that application. Write-only. */
  zaloAppSecret?: string | null | undefined;
};

export type CreateOrderInput = {
  /** For which account; left out: your only or oldest one. */
  accountId?: string | null | undefined;
  /** A free amount, as its budget in whole cents; within `topUp`. */
  amountUsd?: UsdAmount | null | undefined;
  /** A free amount, as its price; within `topUp`. */
  amountVnd?: VndAmount | null | undefined;
  /** The account that gets the budget, by id or e-mail address; left out: the buyer’s. Whether there is such an account is not told: the gift waits 30 days for it, and then goes to the buyer. */
  giftTo?: string | null | undefined;
  /** Asking again with the same key and input gives the same order. */
  idempotencyKey?: string | null | undefined;
  /** Which plan: its id or `planId`. Left out: a free amount. */
  planId?: string | null | undefined;
  /** A paid order whose plan is to be upgraded: only the difference is paid and given. */
  upgrades?: string | null | undefined;
};

export type CreateProbeAgentInput = {
  /** Its name, shown on the status page. */
  name: string;
  /** Where it stands, e.g. `Hanoi`; shown on the status page. */
  region: string;
};

export type CreateProjectInput = {
  /** Whose project; left out: your only or oldest account. */
  accountId?: string | null | undefined;
  /** What its keys may spend together; left out: no limit. */
  limits?: ProjectLimitsInput | null | undefined;
  /** What people call it. */
  name: string;
};

export type CreateWebhookEndpointInput = {
  /** Whose; left out: your only or oldest account. */
  accountId?: string | null | undefined;
  /** What people call it. */
  description?: string | null | undefined;
  /** What it is to hear of; left out or empty: everything. */
  events?: Array<WebhookEvent> | null | undefined;
  /** A public https address. */
  url: string;
};

export type DiscoverVendorInput = {
  /** The address that the vendor’s pages name. */
  baseUrl: string;
  /** The key: write-only. Left out: the vendor takes none. */
  secret?: string | null | undefined;
};

/** Which models take an effort. */
export type EffortSupport =
  /** Every one. */
  | 'ALL'
  /** Those whose catalog entry names efforts. */
  | 'NAMED'
  /** None. */
  | 'NONE';

export type EndGrantInput = {
  /** Of which account. */
  accountId: string;
  /** Which grant. */
  grantId: string;
  /** Why; it is kept in the audit log. */
  reason: string;
};

/** A kind of content of a request, by which its bound is found. */
export type EstimateBoundKind =
  /** Audio. */
  | 'AUDIO'
  /** Documents in the request. */
  | 'DOCUMENT'
  /** Documents by address. */
  | 'DOCUMENT_BY_ADDRESS'
  /** Files that are kept at the vendor. */
  | 'FILE_BY_ID'
  /** Images in the request. */
  | 'IMAGE'
  /** Images by address. */
  | 'IMAGE_BY_ADDRESS'
  /** Pages of PDFs in the request: their text and a picture of each. */
  | 'PDF_PAGES'
  /** A conversation, a prompt or a container at the vendor. */
  | 'STORED_CONTEXT'
  /** What the vendor writes around messages and tools. */
  | 'TEMPLATE'
  /** Text: a token a byte. */
  | 'TEXT'
  /** Members that no table knows. */
  | 'UNKNOWN_MEMBER'
  /** Parts that no table knows. */
  | 'UNKNOWN_PART'
  /** Tools that run at the vendor, which read the context again. */
  | 'VENDOR_TOOLS'
  /** Video. */
  | 'VIDEO';

/** The address that a request would be sent to. */
export type EstimateFormat =
  /** `/v1/chat/completions` */
  | 'CHAT_COMPLETIONS'
  /** `/v1/embeddings` */
  | 'EMBEDDINGS'
  /** `/v1/messages` */
  | 'MESSAGES'
  /** `/v1/responses` */
  | 'RESPONSES';

export type GiveGrantInput = {
  /** To which account. */
  accountId: string;
  /** How much. */
  amount: UsdAmount;
  /** When it ends; left out: never. */
  expiresAt?: string | null | undefined;
  /** Asking again with the same key gives nothing more. */
  idempotencyKey?: string | null | undefined;
  /** Why; the account holder sees it. */
  reason: string;
};

/** Where a grant comes from. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type GrantKind =
  /** Given by an operator. */
  | 'ADJUSTMENT'
  /** Given beside a purchase of a certain amount. */
  | 'BONUS'
  /** Given for a redemption code. */
  | 'CODE'
  /** Bought with a plan. */
  | 'PURCHASE'
  /** Given back. */
  | 'REFUND'
  /** The budget that a new account starts with. */
  | 'TRIAL';

/** How long the periods of a chart are. */
export type HourOrDay =
  /** A day. */
  | 'DAY'
  /** An hour. */
  | 'HOUR';

/** The price of one image that is made; what is left out holds for all. */
export type ImagePriceInput = {
  /** USD for one. */
  price: UsdAmount;
  /** In the vendor's word, such as `high`. */
  quality?: string | null | undefined;
  /** Exactly this one, such as `1024x1024`. */
  size?: string | null | undefined;
  /** Every size of at most so many pixels. */
  upToPixels?: number | null | undefined;
};

/** What images cost. */
export type ImagePricesInput = {
  /** One image by quality and size; left out: nothing beside its tokens. */
  each?: Array<ImagePriceInput> | null | undefined;
  /** Tokens of images; left out: they cost as those of text. */
  tokens?: ImageTokenPricesInput | null | undefined;
};

/** Prices of the tokens of images, in USD per 1M. */
export type ImageTokenPricesInput = {
  /** Images read from the cache; lower than `input`. */
  cacheHit: UsdAmount;
  /** Images that are sent. */
  input: UsdAmount;
  /** Images that are made. */
  output: UsdAmount;
};

export type ImportVendorUsageInput = {
  /** Only its own days and models are replaced, instead of its whole period. */
  add?: boolean | null | undefined;
  /** What earlier files had of the period, and this one has not, may go. */
  confirmed?: boolean | null | undefined;
  /** The text of the CSV file: OpenAI’s export of completions grouped by model, that of Anthropic’s console, or the columns `day,model,requests,input,cache_hit,cache_write,output,cost_usd`. At most 80000 characters. */
  csv: string;
  /** Id of the upstream that the vendor billed. */
  upstream: string;
};

/** Why probes of a model failed, where it was not the model. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type IncidentCause =
  /** The service itself was away or could not be reached. */
  | 'SERVICE';

/** How much of a model an incident touches. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type IncidentImpact =
  /** All ways to reach it. */
  | 'MAJOR'
  /** Some ways to reach it. */
  | 'PARTIAL';

/** A part that one can be invited to. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type InvitedRole =
  /** Everything but what concerns owners. */
  | 'ADMIN'
  /** Looks at everything and handles keys. */
  | 'MEMBER'
  /** Looks at everything. */
  | 'VIEWER';

/** How far an e-invoice is. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type InvoiceState =
  /** It is being issued. */
  | 'DUE'
  /** It could not be issued: the operator looks at it. */
  | 'FAILED'
  /** It was issued. */
  | 'ISSUED'
  /** The payment was undone afterwards: the operator cancels it. */
  | 'TO_CANCEL'
  /** The payment was undone before it was requested. */
  | 'WITHDRAWN';

/** The number of an account of the journal. */
export type JournalAccountInput = {
  /** Its number. */
  number: string;
  /** What it is for. */
  role: JournalAccountRole;
};

/** What an account of the journal is for. */
export type JournalAccountRole =
  /** Credit notes for used budget. */
  | 'ALLOWANCES'
  /** Money in banks. */
  | 'BANK'
  /** Vendors’ bills for what was sold. */
  | 'COST_OF_SALES'
  /** Money of customers that no order has taken. */
  | 'CUSTOMERS_MONEY'
  /** Budget that is sold and not used. */
  | 'DEFERRED_REVENUE'
  /** Expired budget. */
  | 'EXPIRED_REVENUE'
  /** Taxes on what vendors abroad bill. */
  | 'FOREIGN_TAXES'
  /** Vendors’ bills for trials, bonuses and gifts. */
  | 'MARKETING'
  /** Vendors’ bills for the operator’s own use and probes. */
  | 'OWN_USE'
  /** Used budget. */
  | 'REVENUE'
  /** VAT of sales. */
  | 'SALES_VAT'
  /** What vendors are owed. */
  | 'VENDORS';

/** Whom a key belongs to. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type KeyOwner =
  /** The account: it goes on when the person who made it leaves. */
  | 'ACCOUNT'
  /** The person who made it: it ends when that person leaves the account. */
  | 'MEMBER';

/** Whether a key opens anything. */
export type KeyStatus =
  /** It does. */
  | 'ACTIVE'
  /** It was deleted. */
  | 'DELETED'
  /** Its time is over. */
  | 'EXPIRED';

/** A language of mails, messages and pages. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type Language =
  /** English. */
  | 'EN'
  /** Vietnamese. */
  | 'VI';

/** Which entries; what is left out does not matter. */
export type LedgerFilter = {
  /** Requests from this moment on. */
  from?: string | null | undefined;
  /** Requests of this key. */
  keyId?: string | null | undefined;
  /** Requests for this catalog id. */
  model?: string | null | undefined;
  /** Requests that ended so. */
  outcome?: RequestOutcome | null | undefined;
  /** Requests of this session: as the client names it, or as `attribution` has it. */
  session?: string | null | undefined;
  /** Requests before this moment. */
  to?: string | null | undefined;
};

/** How ledger entries are sorted; equal ones by time, the same way. */
export type LedgerOrder = {
  /** Which way. */
  direction?: OrderDirection;
  /** By what. */
  field: LedgerOrderField;
};

/** What ledger entries are sorted by. */
export type LedgerOrderField =
  /** What it cost. */
  | 'COST'
  /** How long it took to the last byte. */
  | 'LATENCY'
  /** When the request came in. */
  | 'TIME'
  /** All its tokens together. */
  | 'TOKENS';

/** What becomes of the keys that somebody has seen who leaves an account. */
export type LeftKeys =
  /** They go on working; who left may know their secrets. */
  | 'KEEP'
  /** They end. */
  | 'REVOKE';

/** What margins are split by besides time. */
export type MarginGroup =
  /** By account. */
  | 'ACCOUNT'
  /** By model. */
  | 'MODEL'
  /** By upstream. */
  | 'UPSTREAM';

/** The name of the cap on the output that an upstream takes. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type MaxTokensField =
  /** `max_completion_tokens`. */
  | 'MAX_COMPLETION_TOKENS'
  /** `max_tokens`. */
  | 'MAX_TOKENS';

/** Something that a model can do and that programs may rely on. */
export type ModelCapability =
  /** Reads context from a cache, at a price of its own. */
  | 'CACHING'
  /** Reasons before it answers. */
  | 'THINKING'
  /** Calls tools. */
  | 'TOOLS'
  /** Sees images. */
  | 'VISION';

/** What a model makes of its input. Further kinds may follow. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type ModelKind =
  /** Vectors: POST /api/v1/embeddings */
  | 'EMBEDDING'
  /** Images: POST /api/v1/images/generations and /api/v1/images/edits */
  | 'IMAGE'
  /** Text and calls of tools: messages, chat completions and responses. */
  | 'TEXT';

/** A model to sell from an address. */
export type NewModelInput = {
  /** What it does; left out: not stated. */
  capabilities?: Array<ModelCapability> | null | undefined;
  /** Tokens of prompt and answer together. */
  contextWindow: number;
  /** What the vendor charges. */
  costs: PricesInput;
  /** What people read. */
  displayName: string;
  /** Efforts that it takes; left out: not stated. */
  efforts?: Array<ReasoningEffort> | null | undefined;
  /** What pages group it by. */
  family: string;
  /** What it makes; left out: text. */
  kind?: ModelKind | null | undefined;
  /** Tokens of the longest answer. */
  maxOutputTokens: number;
  /** What clients send as `model`. */
  modelId: string;
  /** What the vendor calls it. */
  upstreamModel: string;
};

/** What a channel leads to. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type NoticeChannelKind =
  /** A channel, by a webhook. */
  | 'DISCORD'
  /** A channel, by an incoming webhook. */
  | 'SLACK'
  /** A chat, by a bot of your own. */
  | 'TELEGRAM'
  /** A program of the operator’s: signed POST requests (Standard Webhooks). */
  | 'WEBHOOK'
  /** A user, by your Official Account. */
  | 'ZALO';

/** How far a message is. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type NoticeDeliveryState =
  /** It was accepted. */
  | 'DELIVERED'
  /** Given up. */
  | 'FAILED'
  /** It will be sent (again). */
  | 'PENDING'
  /** It is being sent. */
  | 'SENDING'
  /** The connection or the process ended while it was sent; it is not repeated. */
  | 'UNKNOWN';

/** What a notice to an account, a person or the operators is about. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type NoticeKind =
  /** Nothing is left. */
  | 'BALANCE_EXHAUSTED'
  /** The balance is below the chosen figure. */
  | 'BALANCE_LOW'
  /** Operators: a vendor’s bill differs from the ledger. */
  | 'BILL_DIFFERS'
  /** Operators: a vendor’s bill was not imported. */
  | 'BILL_MISSING'
  /** More was spent in a time than chosen. */
  | 'BURN_RATE'
  /** Part of the budget expires soon. */
  | 'GRANT_EXPIRING'
  /** A key, a member, a project or the account is near one of its limits. */
  | 'KEY_LIMIT_NEAR'
  /** Operators: the margin of 24 hours is below the chosen one. */
  | 'MARGIN_LOW'
  /** A model that the account uses has an incident. */
  | 'MODEL_INCIDENT'
  /** Somebody signed in from a browser that was not used before. */
  | 'NEW_SIGN_IN'
  /** The price of a model that the account uses changes. */
  | 'PRICE_CHANGED'
  /** A state that a notice reported is over. */
  | 'RECOVERED'
  /** Operators: answers cost more than could be charged. */
  | 'SHORTFALL'
  /** Operators: a transfer waits for a person. */
  | 'TRANSFER_WAITING'
  /** The trial ends soon. */
  | 'TRIAL_ENDING'
  /** Operators: an upstream fails. */
  | 'UPSTREAM_FAILING';

/** Which notices an account gets, and when; what is left out stays. */
export type NoticeSettingsInput = {
  /** Which account; left out: your only or oldest one. */
  accountId?: string | null | undefined;
  /** Sends a notice when more than this is spent within `burnMinutes`; zero: never. */
  burnAmount?: UsdAmount | null | undefined;
  /** The time of the burn rate: 1 to 1440 minutes. */
  burnMinutes?: number | null | undefined;
  /** Sends a notice when a limit of a key, a member, a project or the account is used to this percentage; zero: never. */
  keyPercent?: number | null | undefined;
  /** A balance below it is low; zero: never. */
  lowBalance: UsdAmount;
  /** Whether notices go out by mail. */
  mail: boolean;
  /** Kinds that are not wanted. */
  muted?: Array<NoticeKind> | null | undefined;
  /** Minute of the day from which nothing is sent, e.g. 1320 for 22:00; null: at no time. */
  quietFrom?: number | null | undefined;
  /** Minute of the day from which it is sent again, as one summary. */
  quietTo?: number | null | undefined;
  /** Zone of the quiet hours, e.g. `Asia/Ho_Chi_Minh`. */
  timeZone?: string | null | undefined;
};

/** What happens to an exchange with an upstream when the client leaves. */
export type OnDisconnect =
  /** It is ended. */
  | 'ABORT'
  /** It goes on for a bounded time, so that its usage is known. */
  | 'DRAIN';

export type OpenAccountInput = {
  /** Its first budget, without an end; left out: none. */
  budget?: UsdAmount | null | undefined;
  /** Where notices go; who signs up with this address owns it. */
  email: string;
  /** What the account is called; left out: the part of the address before the @. */
  name?: string | null | undefined;
};

/** What an operator is trusted with. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type OperatorRole =
  /** Money and papers: grants, orders, transfers, refunds, books. */
  | 'FINANCE'
  /** Everything: models, prices, settings, other operators. */
  | 'OWNER'
  /** Sees what customers see and explains it; moves no money. */
  | 'SUPPORT';

/** Which end of a list comes first. */
export type OrderDirection =
  /** The smallest, or the oldest. */
  | 'ASC'
  /** The largest, or the newest. */
  | 'DESC';

/** How far an order is. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type OrderStatus =
  /** It was cancelled. */
  | 'CANCELLED'
  /** The money did not arrive in time. */
  | 'EXPIRED'
  /** Paid: its budget can be used. */
  | 'PAID'
  /** Some money has arrived; the rest is missing. */
  | 'PARTIAL'
  /** No money has arrived. */
  | 'PENDING';

/** Prices by the clock, in USD per 1M tokens: outside of all windows the ordinary prices count. */
export type PriceClockInput = {
  /** Dates on which no window begins, `YYYY-MM-DD`: public holidays that the vendor leaves out. */
  exceptDates?: Array<string> | null | undefined;
  /** IANA name of the time zone of days, hours and dates, such as `Asia/Shanghai`. */
  timeZone: string;
  /** Each has prices of its own; no two have a minute in common. */
  windows: Array<PriceWindowInput>;
};

/** Prices for longer prompts, in USD per 1M tokens: the whole request is charged at them. */
export type PriceTierInput = {
  /** For prompts of more tokens than this, all pools together. */
  abovePromptTokens: number;
  /** Context from the cache; lower than `input`. */
  cacheHit: UsdAmount;
  /** Written to the one-hour cache; left out: as new context. */
  cacheWrite1h?: UsdAmount | null | undefined;
  /** Written to the five-minute cache; left out: as new context. */
  cacheWrite5m?: UsdAmount | null | undefined;
  /** New context. */
  input: UsdAmount;
  /** What the model writes. */
  output: UsdAmount;
};

/** Prices by what is served: either `times`, or a set of prices. */
export type PriceVariantInput = {
  /** Context from the cache; lower than `input`. */
  cacheHit?: UsdAmount | null | undefined;
  /** Written to the one-hour cache. */
  cacheWrite1h?: UsdAmount | null | undefined;
  /** Written to the five-minute cache. */
  cacheWrite5m?: UsdAmount | null | undefined;
  /** New context. */
  input?: UsdAmount | null | undefined;
  /** What chooses it: the value of a tier, a speed or a region that a request asks for, in its vendor's word (`flex`, `fast`, also for `priority`, `us`), `batch` for batches; with `+` between several, sorted: what they cost together. */
  name: string;
  /** What the model writes. */
  output?: UsdAmount | null | undefined;
  /** At the lengths of the ordinary ones. */
  tiers?: Array<PriceTierInput> | null | undefined;
  /** All prices and tiers times this: `0.5` is half. */
  times?: string | null | undefined;
};

/** Prices for hours of the week: a request that is accepted in them is charged wholly at these. */
export type PriceWindowInput = {
  /** Context from the cache; lower than `input`. */
  cacheHit: UsdAmount;
  /** Written to the one-hour cache; left out: as new context. */
  cacheWrite1h?: UsdAmount | null | undefined;
  /** Written to the five-minute cache; left out: as new context. */
  cacheWrite5m?: UsdAmount | null | undefined;
  /** Periods of the day, `HH:MM-HH:MM`, the end excluded; an end that is not after the beginning is on the next day. */
  hours: Array<string>;
  /** New context. */
  input: UsdAmount;
  /** What the model writes. */
  output: UsdAmount;
  /** Prices of the window for longer prompts, with the bounds of the ordinary ones. */
  tiers?: Array<PriceTierInput> | null | undefined;
  /** The days on which the hours begin. */
  weekdays: Array<Weekday>;
};

/** What a million tokens cost, in USD with at most 6 decimals, and what is charged beside them. */
export type PricesInput = {
  /** Context from the cache; lower than `input`. */
  cacheHit: UsdAmount;
  /** Written to the one-hour cache; left out: as new context. */
  cacheWrite1h?: UsdAmount | null | undefined;
  /** Written to the five-minute cache; left out: as new context. */
  cacheWrite5m?: UsdAmount | null | undefined;
  /** Other prices for hours of the week; left out: none. */
  clock?: PriceClockInput | null | undefined;
  /** What images cost; left out: no separate prices. */
  images?: ImagePricesInput | null | undefined;
  /** New context. */
  input: UsdAmount;
  /** What the model writes. */
  output: UsdAmount;
  /** What is charged by the piece; left out: nothing. */
  perUnit?: UnitPricesInput | null | undefined;
  /** Other prices for longer prompts; left out: none. */
  tiers?: Array<PriceTierInput> | null | undefined;
  /** Other prices by what a request asks for and its vendor serves: a tier, a speed, a region, a batch. Left out: none. */
  variants?: Array<PriceVariantInput> | null | undefined;
};

/** How a probe asks for its answer. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type ProbeMode =
  /** In one piece. */
  | 'PLAIN'
  /** As a stream. */
  | 'STREAM';

/** What a probe found. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type ProbeOutcome =
  /** No such answer. */
  | 'DOWN'
  /** The probe’s own key, budget or limits stood in the way. */
  | 'NO_DATA'
  /** A whole, well-formed answer. */
  | 'UP';

/** What the keys of a project may spend together; left out or null: no limit. */
export type ProjectLimitsInput = {
  /** In all. */
  lifetime?: UsdAmount | null | undefined;
  /** In a calendar month, in the time zone of the account. */
  month?: UsdAmount | null | undefined;
};

/** A wire protocol. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type Protocol =
  /** POST /api/v1/chat/completions */
  | 'CHAT_COMPLETIONS'
  /** POST /api/v1/messages */
  | 'MESSAGES'
  /** POST /api/v1/responses */
  | 'RESPONSES';

/** How much a request asks a model to reason. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type ReasoningEffort =
  /** Much. */
  | 'HIGH'
  /** Little. */
  | 'LOW'
  /** As much as it can. */
  | 'MAX'
  /** As much as is usual. */
  | 'MEDIUM'
  /** As little as it can. */
  | 'MINIMAL'
  /** Not at all. */
  | 'NONE'
  /** Very much. */
  | 'XHIGH';

export type RecordTransferInput = {
  /** How much arrived. */
  amountVnd: VndAmount;
  /** The bank’s reference: the same one is recorded once. */
  bankReference: string;
  /** When the bank booked it. */
  bookedAt: string;
  /** What the payer wrote. */
  memo: string;
};

/** What goes back. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type RefundKind =
  /** What was paid for no order, or for less than its price. */
  | 'PAYMENT'
  /** Of a purchase. */
  | 'PURCHASE'
  /** What was paid beyond a price. */
  | 'SURPLUS';

export type RefundOrderInput = {
  /** How much of its unused budget; left out: all of it. */
  budget?: UsdAmount | null | undefined;
  /** Why, for people who read it later. */
  note: string;
  /** Which order. */
  orderId: string;
  /** For budget that was used; left out: nothing. */
  usedVnd?: VndAmount | null | undefined;
};

export type RefundTransferInput = {
  /** How much; left out: everything that bought nothing. */
  amountVnd?: VndAmount | null | undefined;
  /** Why, for people who read it later. */
  note: string;
  /** Which transfer. */
  transferId: string;
};

/** How a request ended. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type RequestOutcome =
  /** Ended because the budget ran out. */
  | 'BUDGET_STOPPED'
  /** The client left before the end. */
  | 'CLIENT_CLOSED'
  /** Answered to the end. */
  | 'COMPLETED'
  /** The service ended it: the server was stopped, or could not check the budget. */
  | 'SHUTDOWN'
  /** The model took too long. */
  | 'TIMEOUT'
  /** The answer broke off. */
  | 'UPSTREAM_CUT'
  /** The model could not be reached or failed. */
  | 'UPSTREAM_ERROR';

/** A person’s part in an account. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type Role =
  /** Everything but what concerns owners. */
  | 'ADMIN'
  /** Looks at everything and handles keys. */
  | 'MEMBER'
  /** Everything, owners included. */
  | 'OWNER'
  /** Looks at everything. */
  | 'VIEWER';

/** A place where a model runs. */
export type RouteInput = {
  /** What the operator pays there; left out: unknown. */
  costs?: PricesInput | null | undefined;
  /** Whether it is used. */
  enabled?: boolean | null | undefined;
  /** Lower is tried first. */
  priority?: number | null | undefined;
  /** Where. */
  upstreamId: string;
  /** What the upstream calls the model. */
  upstreamModel: string;
  /** Share among routes of one priority. */
  weight?: number | null | undefined;
};

/** A model, new or known. */
export type SaveModelInput = {
  /** Fields and betas that are open for it. */
  allow?: Array<string> | null | undefined;
  /** What it can do: `tools`, `vision`, `thinking`, `caching`, and whatever people are to read. */
  capabilities?: Array<string> | null | undefined;
  /** Most tokens of a request and its answer. */
  contextWindow: number;
  /** What people read. */
  displayName: string;
  /** Whether it can be called. */
  enabled?: boolean | null | undefined;
  /** Which models it belongs with. */
  family: string;
  /** What it makes of its input. Left out: what it is known for, `TEXT` of a new one. */
  kind?: ModelKind | null | undefined;
  /** Most tokens of an answer. */
  maxOutputTokens: number;
  /** Catalog id: lower case; what clients write in `model`. */
  modelId: string;
  /** What becomes of a request with a top-level member that the gateway does not know. Translation refuses it in any case. Left out: `PASS`. */
  onUnknownMembers?: UnknownMembers | null | undefined;
  /** Reasoning efforts that it knows; `NONE` alone: it takes no effort; empty: not said. */
  reasoningEfforts?: Array<ReasoningEffort> | null | undefined;
  /** Tokens a second that its hidden reasoning never falls below: silence of a stream counts so, and a stream that was left is charged so. Zero: it shows all its reasoning. Null: not said; silence of a model that reasons then counts as 80 tokens a second while it streams, and nobody is charged for it. */
  reasoningTokensPerSecond?: number | null | undefined;
};

/** A plan. Orders that were made before keep their price and budget. */
export type SavePlanInput = {
  /** The budget that it buys. */
  budget: UsdAmount;
  /** What people read. */
  name: string;
  /** Whether it can be ordered. */
  onSale?: boolean | null | undefined;
  /** Lower-case letters, digits and hyphens; an existing one is changed. */
  planId: string;
  /** What it costs. */
  priceVnd: VndAmount;
  /** Days until the bought budget expires; left out: never. */
  validDays?: number | null | undefined;
};

export type SavePricesInput = {
  /** The longest prompt that these prices are for. A request whose prompt may be longer, by its bytes, is refused; left out: whatever the upstream takes. */
  maxPromptTokens?: number | null | undefined;
  /** Which model. */
  modelId: string;
  /** The prices. */
  prices: PricesInput;
  /** From when they count; left out: at once. */
  validFrom?: string | null | undefined;
};

export type SaveProbingInput = {
  /** Minutes between two rounds, at most 1440. Of a model: 0: it is not probed; null: as all models. */
  everyMinutes?: number | null | undefined;
  /** Catalog id; left out: all models without settings of their own. */
  modelId?: string | null | undefined;
  /** What a month may cost. Of a model: null: it has no budget of its own. */
  monthlyBudget?: UsdAmount | null | undefined;
};

export type SaveSettingsInput = {
  /** Which group. */
  group: SettingGroup;
  /** What changes; the others stay. */
  values: Array<SettingValueInput>;
};

/** An upstream, new or known. */
export type SaveUpstreamInput = {
  /** https; without `/v1` for messages, with it for the others. A private address is refused. */
  baseUrl: string;
  /** In which country (ISO 3166); null: as the profile says; left out: as it was. */
  country?: string | null | undefined;
  /** Whether it is used. */
  enabled?: boolean | null | undefined;
  /** What differs from the vendor. */
  features?: UpstreamFeaturesInput | null | undefined;
  /** When the client leaves. */
  onDisconnect?: OnDisconnect | null | undefined;
  /** The vendor, one of `vendorProfiles`; null: none of them; left out: as it was. */
  profile?: string | null | undefined;
  /** What it speaks. */
  protocol: Protocol;
  /** Who receives the requests; null: as the profile says; left out: as it was. */
  recipient?: string | null | undefined;
  /** Its key, in place of those it has: write-only. Needed again when the address moves elsewhere. */
  secret?: string | null | undefined;
  /** What operators call it. */
  upstreamId: string;
};

/** What was found. */
export type SearchHitKind =
  /** A customer. */
  | 'ACCOUNT'
  /** An API key. */
  | 'KEY'
  /** A model of the catalog. */
  | 'MODEL'
  /** An order. */
  | 'ORDER'
  /** A finished request. */
  | 'REQUEST'
  /** A bank transfer. */
  | 'TRANSFER';

/** The seller. What is left out is empty. */
export type SellerInput = {
  /** The seller’s address. */
  address?: string | null | undefined;
  /** The seller’s name. */
  name?: string | null | undefined;
  /** Web address of the privacy policy. */
  privacyUrl?: string | null | undefined;
  /** Web address of the refund policy. */
  refundUrl?: string | null | undefined;
  /** Where to write for help. */
  supportEmail?: string | null | undefined;
  /** Where to call for help. */
  supportPhone?: string | null | undefined;
  /** The seller’s tax code (MST). */
  taxCode?: string | null | undefined;
  /** Web address of the terms of use. */
  termsUrl?: string | null | undefined;
};

/** How a model, or the whole service, does. */
export type ServiceState =
  /** Some ways to reach it fail. */
  | 'DEGRADED'
  /** It does not answer. */
  | 'DOWN'
  /** It has not been measured lately: neither up nor down. */
  | 'NO_DATA'
  /** It answers. */
  | 'UP';

export type SetAttributionModeInput = {
  /** Which account; left out: your only or oldest one. */
  accountId?: string | null | undefined;
  /** What is to be stored. */
  mode: AttributionMode;
};

/** What `setBookTaxes` takes. Rates are hundredths of a percent. */
export type SetBookTaxesInput = {
  /** Income tax on what vendors abroad bill. */
  foreignIncome: number;
  /** The vendors’ bills are net of these taxes. */
  foreignNet: boolean;
  /** VAT on what vendors abroad bill. */
  foreignVat: number;
  /** For people who read it later. */
  note?: string | null | undefined;
  /** The VAT that the prices of plans include. */
  salesVat: number;
  /** The first day, such as `2026-10-01`. */
  validFrom: string;
};

export type SetExchangeRateInput = {
  /** A month (`2026-10`), or a day of it (`2026-10-31`). */
  period: string;
  /** VND for a USD, with at most four decimals. */
  rate: string;
  /** Who says so. */
  source: string;
};

export type SetMemberBudgetInput = {
  /** Whose: the id of a member, or a `memberId`. */
  id: string;
  /** In a calendar month; left out or null: no limit. */
  month?: UsdAmount | null | undefined;
};

/** Settings that belong together. */
export type SettingGroup =
  /** The address that people and programs reach the service at. */
  | 'ADDRESS'
  /** The account that customers pay to. */
  | 'BANK'
  /** Casso tells of transfers. */
  | 'CASSO'
  /** E-invoices through SePay. */
  | 'EINVOICE'
  /** People sign in with GitHub. */
  | 'GITHUB'
  /** People sign in with Google. */
  | 'GOOGLE'
  /** The server that takes mails. */
  | 'MAIL'
  /** People sign in with an OpenID provider. */
  | 'OIDC'
  /** How long orders wait, and how many an account has. */
  | 'PAYMENTS'
  /** payOS tells of transfers. */
  | 'PAYOS'
  /** SePay tells of transfers. */
  | 'SEPAY';

/** How a setting is entered. */
export type SettingKind =
  /** One of several words. */
  | 'CHOICE'
  /** A secret: write-only. */
  | 'SECRET'
  /** One line of text. */
  | 'TEXT';

/** Where a setting comes from. */
export type SettingSource =
  /** It is not set. */
  | 'DEFAULT'
  /** A variable of the server, which wins. */
  | 'ENVIRONMENT'
  /** It was saved here. */
  | 'STORED';

/** A setting and its new value. */
export type SettingValueInput = {
  /** Which setting. */
  name: string;
  /** Its value; empty: it is deleted. */
  value: string;
};

/** What a try of settings showed. */
export type SettingsFinding =
  /** SePay watches no account of this number. */
  | 'ACCOUNT_UNWATCHED'
  /** SePay watches this account: number, bank and holder are as it has them. */
  | 'ACCOUNT_WATCHED'
  /** Something else answers at the address, or the way there changes answers. */
  | 'ADDRESS_ELSEWHERE'
  /** This service answers at the address, asked from its own server. */
  | 'ADDRESS_LEADS_HERE'
  /** SePay has this account at another bank. */
  | 'BANK_DIFFERS'
  /** The provider takes this client’s secret and refuses another. That it sends people back shows with a first sign-in. */
  | 'CLIENT_KNOWN'
  /** The provider does not know the client, or its secret is wrong. */
  | 'CLIENT_REFUSED'
  /** The provider is there, but its answers do not tell whether the secret is right: try a sign-in. */
  | 'CLIENT_UNPROVED'
  /** The provider account is switched off. */
  | 'EINVOICE_ACCOUNT_INACTIVE'
  /** The client has no such provider account. */
  | 'EINVOICE_ACCOUNT_UNKNOWN'
  /** SePay has this account under another holder. */
  | 'HOLDER_DIFFERS'
  /** No OpenID provider of that name answers at that address. */
  | 'ISSUER_UNKNOWN'
  /** The mail server did not take the mail. */
  | 'MAIL_REFUSED'
  /** The mail server took a mail to you. Whether it arrives shows in your inbox. */
  | 'MAIL_TAKEN'
  /** There is nothing to try yet: settings are missing. */
  | 'NOT_SET'
  /** Only a person can get a test mail. */
  | 'NO_RECIPIENT'
  /** The provider knows the client, but not the redirect address. */
  | 'REDIRECT_REFUSED'
  /** The provider has this template and series for the account. No invoice was made. */
  | 'SERIES_KNOWN'
  /** The account has no such template and series. */
  | 'SERIES_UNKNOWN'
  /** SePay lists transfers of the account. That its messages arrive shows with a first transfer. */
  | 'TRANSFERS_LISTED'
  /** SePay did not answer with transfers: is it this account’s token? */
  | 'TRANSFERS_REFUSED'
  /** Without SePay’s API token nobody can be asked: make a small transfer, it shows here when a provider tells. */
  | 'TRANSFER_NEEDED'
  /** No answer, or none that can be understood. */
  | 'UNREACHABLE';

/** A step of setting the service up. */
export type SetupStep =
  /** Orders name the bank account of the business. */
  | 'BANK_ACCOUNT'
  /** A bank provider has reported a transfer. */
  | 'BANK_WEBHOOK'
  /** A plan is on sale. */
  | 'PLAN'
  /** The service has an address that others reach, over https. */
  | 'PUBLIC_ADDRESS'
  /** The operator who asks signs in with a one-time code. */
  | 'SECOND_FACTOR'
  /** Customers read who sells, under which terms, and where they get help. */
  | 'SELLER'
  /** Mails are sent, not written to files. */
  | 'SMTP'
  /** A model is on sale that runs at a vendor, not at the simulator. */
  | 'VENDOR';

export type SignUpInput = {
  /** E-mail address; a link is sent to it. */
  email: string;
  /** Language of mails; left out: `EN`. */
  language?: Language | null | undefined;
  /** What the person is called. */
  name: string;
  /** At least 10 characters, at most 1,024 bytes. */
  password: string;
};

/** What a key alone, or all keys of an account together, may spend, in the time zone of the account; left out or null: no limit but the budget. */
export type SpendLimitsInput = {
  /** In one day. */
  day?: UsdAmount | null | undefined;
  /** In all. */
  lifetime?: UsdAmount | null | undefined;
  /** In one calendar month. */
  month?: UsdAmount | null | undefined;
  /** In one week, from Monday. Left out, it stays as it is. */
  week?: UsdAmount | null | undefined;
};

/** How far an incident, or maintenance, has come. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type StatusUpdateState =
  /** Of maintenance: it is over, and its window with it. */
  | 'COMPLETED'
  /** Of an incident: its cause is known. */
  | 'IDENTIFIED'
  /** Of an incident: its cause is looked for. */
  | 'INVESTIGATING'
  /** Of maintenance: it is under way. */
  | 'IN_PROGRESS'
  /** Of an incident: it is mended, and watched. */
  | 'MONITORING'
  /** Of an incident: it is over. Ends an announced one. */
  | 'RESOLVED'
  /** Of maintenance: its result is checked. */
  | 'VERIFYING';

/** How a system message in mid-conversation is sent. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type SystemRole =
  /** Ahead of the conversation. */
  | 'HOIST'
  /** Where it stands. */
  | 'KEEP'
  /** As a message of the user. */
  | 'USER';

export type TestSettingsInput = {
  /** Which group. */
  group: SettingGroup;
  /** What would change. */
  values: Array<SettingValueInput>;
};

/** What happened. */
export type TimelineKind =
  /** The account was alerted, e.g. to an incident of a model that it uses. */
  | 'ALERTED'
  /** Something else of the account was changed. */
  | 'CHANGED'
  /** Budget was given. */
  | 'GRANTED'
  /** An API key was created. */
  | 'KEY_CREATED'
  /** An API key was deleted. */
  | 'KEY_DELETED'
  /** An operator wrote a note. */
  | 'NOTED'
  /** The account was opened. */
  | 'OPENED'
  /** A plan was ordered. */
  | 'ORDERED'
  /** An order was paid. */
  | 'PAID'
  /** The account was let go on. */
  | 'RESUMED'
  /** The account was suspended. */
  | 'SUSPENDED';

/** One of the five kinds of tokens that have prices. */
export type TokenPool =
  /** Context read from the cache. */
  | 'CACHE_HIT'
  /** Context written to the one-hour cache. */
  | 'CACHE_WRITE_1H'
  /** Context written to the five-minute cache. */
  | 'CACHE_WRITE_5M'
  /** New context. */
  | 'INPUT'
  /** What the model wrote, reasoning included. */
  | 'OUTPUT';

/** What an access token may do. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type TokenScope =
  /** Make orders. */
  | 'BILLING'
  /** Handle its API keys. */
  | 'KEYS'
  /** Operate the service; only operators can give it. */
  | 'OPERATOR'
  /** Look at the account. */
  | 'READ';

/** The strongest tool choice that binds. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type ToolChoiceSupport =
  /** None that binds. */
  | 'AUTO'
  /** A named tool. */
  | 'NAMED'
  /** Any tool. */
  | 'REQUIRED';

/** Free amounts to offer. */
export type TopUpInput = {
  /** The largest amount. */
  maxVnd: VndAmount;
  /** The least amount. */
  minVnd: VndAmount;
  /** The plan whose price of a USD and validity count. */
  planId: string;
};

/** Which way money went. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type TransferDirection =
  /** To us. */
  | 'IN'
  /** Away from us. */
  | 'OUT';

/** Why an order is proposed. */
export type TransferProposalReason =
  /** The text of the transfer holds almost its memo code. */
  | 'NEAR_MEMO'
  /** It waits for exactly this amount. */
  | 'SAME_AMOUNT';

/** Why a transfer waits for a person. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type TransferReviewReason =
  /** The order had expired when the money was sent. */
  | 'LATE'
  /** The amount is zero. */
  | 'NO_AMOUNT'
  /** Its text has no valid memo code. */
  | 'NO_MEMO'
  /** The order had been cancelled. */
  | 'ORDER_CANCELLED'
  /** The order was paid already. */
  | 'ORDER_PAID'
  /** It went to an account that is not ours. */
  | 'OTHER_ACCOUNT'
  /** Money went away from us. */
  | 'OUTGOING'
  /** The same movement was reported before under another id, surely or perhaps. */
  | 'REPEATED'
  /** It names several orders. */
  | 'SEVERAL_MEMOS'
  /** The order expired before it was paid in full. */
  | 'SHORT'
  /** The order was paid, and more. */
  | 'SURPLUS'
  /** Its memo code is of no order. */
  | 'UNKNOWN_MEMO';

/** Who reported a transfer. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type TransferSource =
  /** Casso. */
  | 'CASSO'
  /** An operator, by hand. */
  | 'OPERATOR'
  /** payOS. */
  | 'PAYOS'
  /** SePay. */
  | 'SEPAY';

export type UndoRefundInput = {
  /** Why, for people who read it later. */
  note: string;
  /** Which refund. */
  refundId: string;
};

/** What is charged by the piece, in USD for one; what is left out has no price. */
export type UnitPricesInput = {
  /** One image. */
  image?: UsdAmount | null | undefined;
  /** One minute; begun ones count whole. */
  minute?: UsdAmount | null | undefined;
  /** One search that the vendor makes. */
  search?: UsdAmount | null | undefined;
};

/** What becomes of members that the gateway does not know. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type UnknownMembers =
  /** They are passed on. */
  | 'PASS'
  /** The request is refused. */
  | 'REFUSE';

/** What is to change about a key; what is left out stays. */
export type UpdateKeyInput = {
  /** Networks (CIDR) or addresses that it may be used from; empty: all. */
  addresses?: Array<string> | null | undefined;
  /** What stops it when it spends too fast; null: nothing. */
  burnLimit?: BurnLimitInput | null | undefined;
  /** When it ends; null: never. */
  expiresAt?: string | null | undefined;
  /** Which key. */
  id: string;
  /** All limits anew, of which the week may be left out. */
  limits?: SpendLimitsInput | null | undefined;
  /** Requests that it may run at once; null: the limit of the service. */
  maxConcurrent?: number | null | undefined;
  /** Catalog ids that it may call; empty: all. */
  models?: Array<string> | null | undefined;
  /** What people call it. */
  name?: string | null | undefined;
  /** Whom it belongs to: the account, or who made it. */
  owner?: KeyOwner | null | undefined;
  /** The project that it lies in; null: none. */
  projectId?: string | null | undefined;
  /** Requests that it may make in a minute, 1 to 1000000; null: the limit of the service. */
  requestsPerMinute?: number | null | undefined;
  /** Tokens that it may use in a minute; null: no limit. */
  tokensPerMinute?: number | null | undefined;
};

/** What is to change about a channel; what is left out stays. */
export type UpdateNoticeChannelInput = {
  /** Whether anything is sent there. */
  enabled?: boolean | null | undefined;
  /** Which channel. */
  id: string;
  /** What is sent there; empty: everything. */
  kinds?: Array<NoticeKind> | null | undefined;
  /** Language of the messages. */
  language?: Language | null | undefined;
  /** What people call it. */
  name?: string | null | undefined;
  /** Telegram: the token of the bot. Slack, Discord, webhook: the address. Zalo: a refresh token. Write-only. */
  secret?: string | null | undefined;
  /** Telegram: id of the chat or `@channel`. Zalo: id of the user. Otherwise empty. */
  target?: string | null | undefined;
  /** Zalo: id of the application. */
  zaloAppId?: string | null | undefined;
  /** Zalo: secret of the application. Write-only. */
  zaloAppSecret?: string | null | undefined;
};

/** What is to change about a project; what is left out stays. */
export type UpdateProjectInput = {
  /** Whether it is archived: it then takes no keys, and has none. */
  archived?: boolean | null | undefined;
  /** Which project. */
  id: string;
  /** All limits anew. They count from the very next request on; running requests finish. */
  limits?: ProjectLimitsInput | null | undefined;
  /** What people call it. */
  name?: string | null | undefined;
};

/** What is to change about an endpoint; what is left out stays. */
export type UpdateWebhookEndpointInput = {
  /** What people call it. */
  description?: string | null | undefined;
  /** Whether anything is sent there. */
  enabled?: boolean | null | undefined;
  /** What it is to hear of; empty: everything. */
  events?: Array<WebhookEvent> | null | undefined;
  /** Which endpoint. */
  id: string;
  /** A public https address. */
  url?: string | null | undefined;
};

/** What translation may use at an upstream; what is left out has the vendor’s or the protocol’s default. */
export type UpstreamFeaturesInput = {
  /** Where cached tokens are counted. */
  cachedTokens?: CachedTokensPlace | null | undefined;
  /** Wants the signatures of tool calls back. */
  callSignatures?: boolean | null | undefined;
  /** Takes an effort. */
  effort?: boolean | null | undefined;
  /** Takes a pseudonym of the end user. */
  endUser?: boolean | null | undefined;
  /** Takes documents. */
  files?: boolean | null | undefined;
  /** Tools that run at the vendor pass where their price is known. */
  hostedTools?: boolean | null | undefined;
  /** Takes images by address. */
  imageUrls?: boolean | null | undefined;
  /** Takes a request for any JSON object. */
  jsonObject?: boolean | null | undefined;
  /** Takes a schema of the answer. */
  jsonSchema?: boolean | null | undefined;
  /** The one name of the output cap that it takes. */
  maxTokensField?: MaxTokensField | null | undefined;
  /** The smallest cap on the output that it takes. */
  minOutputTokens?: number | null | undefined;
  /** Takes `parallel_tool_calls`. */
  parallelCalls?: boolean | null | undefined;
  /** Takes earlier reasoning back. */
  reasoningHistory?: boolean | null | undefined;
  /** Takes temperature and the like. */
  sampling?: boolean | null | undefined;
  /** Wants ids of tool calls with nine letters or digits. */
  shortCallIds?: boolean | null | undefined;
  /** Takes stop sequences. */
  stop?: boolean | null | undefined;
  /** The vendor stores questions and answers unless a request says `store: false`; requests then say so. */
  store?: boolean | null | undefined;
  /** How a system message in mid-conversation is sent. */
  systemRole?: SystemRole | null | undefined;
  /** Thinks unless told not to, and then takes no forced tool choice. */
  thinkingSwitch?: boolean | null | undefined;
  /** The strongest tool choice that binds. */
  toolChoice?: ToolChoiceSupport | null | undefined;
  /** Is handed the trace of each request. */
  traceContext?: boolean | null | undefined;
  /** Takes `stream_options`. */
  usageOption?: boolean | null | undefined;
  /** Takes turns of responses over a WebSocket. */
  webSocket?: boolean | null | undefined;
};

/** What usage is split by besides time. */
export type UsageGroup =
  /** By key. */
  | 'KEY'
  /** By the person who made the key. */
  | 'MAKER'
  /** By model. */
  | 'MODEL'
  /** By how requests ended. */
  | 'OUTCOME'
  /** By the project in which the key lies now. */
  | 'PROJECT';

/** Which rows of usage come first. */
export type UsageOrder =
  /** Those that were charged most; of `usage` only without periods. */
  | 'COST'
  /** Those of the newest period, or that were used last. */
  | 'TIME';

/** How long the periods of a chart are. */
export type UsagePeriod =
  /** Days. */
  | 'DAY'
  /** Hours. */
  | 'HOUR'
  /** Months. */
  | 'MONTH';

/** Where the token counts of an entry come from. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type UsageSource =
  /** Reported, but cut to what is possible. */
  | 'CLAMPED'
  /** Counted by the gateway. */
  | 'ESTIMATED'
  /** There are none: the request failed before any. */
  | 'NONE'
  /** Reported up to where the answer ended, the rest estimated. */
  | 'PARTIAL'
  /** The model reported them. */
  | 'REPORTED';

/** How far a delivery is. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type WebhookDeliveryStatus =
  /** The endpoint answered with 2xx. */
  | 'DELIVERED'
  /** Given up. */
  | 'FAILED'
  /** It will be tried (again). */
  | 'PENDING';

/** What webhooks tell of, with what bodies have as `type`. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type WebhookEvent =
  /** `balance.exhausted`: nothing is left of the budget. */
  | 'BALANCE_EXHAUSTED'
  /** `balance.low`: the budget went below the threshold. */
  | 'BALANCE_LOW'
  /** `grant.expiring`: budget ends soon. */
  | 'GRANT_EXPIRING'
  /** `key.limit_near`: a limit of a key, a member, a project or the account is nearly reached. */
  | 'KEY_LIMIT_NEAR'
  /** `model.incident`: a model that the account uses fails, or is back. */
  | 'MODEL_INCIDENT'
  /** `order.paid`: an order was paid. */
  | 'ORDER_PAID'
  /** `order.partial`: a part of an order’s price has arrived. */
  | 'ORDER_PARTIAL'
  /** `price.changed`: the price of a model that the account uses changes. */
  | 'PRICE_CHANGED'
  /** `sign_in.new`: somebody signed in from a new device. */
  | 'SIGN_IN_NEW'
  /** `spend.burn_rate`: more is spent in a while than is wanted. */
  | 'SPEND_BURN_RATE'
  /** `trial.ending`: the budget of the trial is nearly used. */
  | 'TRIAL_ENDING'
  /** `webhook.test`: a test. */
  | 'WEBHOOK_TEST';

/** Why a message of a bank’s provider was refused. Null in an answer: a value that this version of the service does not know; lists leave it out. */
export type WebhookRefusalReason =
  /** It was genuine, and could not be stored. */
  | 'FAILED'
  /** Its signature or API key is not of the secret that is set. */
  | 'FORGED'
  /** No secret was set. */
  | 'NOT_CONFIGURED'
  /** It was signed too long ago, or in the future. */
  | 'STALE'
  /** It was genuine, and not understood. */
  | 'UNREADABLE'
  /** It has no signature, or no API key, where one is expected. */
  | 'UNSIGNED';

/** A day of the week. */
export type Weekday =
  /** Friday. */
  | 'FRI'
  /** Monday. */
  | 'MON'
  /** Saturday. */
  | 'SAT'
  /** Sunday. */
  | 'SUN'
  /** Thursday. */
  | 'THU'
  /** Tuesday. */
  | 'TUE'
  /** Wednesday. */
  | 'WED';

export type AccountQueryVariables = Exact<{
  id?: string | null | undefined;
}>;


export type AccountQuery = { account: { createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } } | null };

export type AccountLimitsQueryVariables = Exact<{
  id?: string | null | undefined;
}>;


export type AccountLimitsQuery = { account: { limits: { addresses: Array<string>, maxConcurrent: number | null, requestsPerMinute: number | null, tokensPerMinute: number | null, timeZone: string, spend: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, spent: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } | null } } | null };

export type SetAccountLimitsMutationVariables = Exact<{
  input: AccountLimitsInput;
}>;


export type SetAccountLimitsMutation = { setAccountLimits:
    | { __typename: 'Account', createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type AttributionModeQueryVariables = Exact<{
  id?: string | null | undefined;
}>;


export type AttributionModeQuery = { account: { attributionMode: AttributionMode | null } | null };

export type SetAttributionModeMutationVariables = Exact<{
  input: SetAttributionModeInput;
}>;


export type SetAttributionModeMutation = { setAttributionMode:
    | { __typename: 'Account', createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type NodeQueryVariables = Exact<{
  id: string;
}>;


export type NodeQuery = { node:
    | { __typename: 'AccessToken', id: string }
    | { __typename: 'Account', id: string }
    | { __typename: 'ApiKey', id: string }
    | { __typename: 'BankTransfer', id: string }
    | { __typename: 'Batch', id: string }
    | { __typename: 'CatalogEntry', id: string }
    | { __typename: 'LedgerEntry', id: string }
    | { __typename: 'Model', id: string }
    | { __typename: 'Order', id: string }
    | { __typename: 'Plan', id: string }
    | { __typename: 'Project', id: string }
    | { __typename: 'Route', id: string }
    | { __typename: 'Upstream', id: string }
    | { __typename: 'User', id: string }
    | { __typename: 'WebhookEndpoint', id: string }
   | null };

export type ListMembersQueryVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type ListMembersQuery = { account: { members: Array<{ createdAt: string, email: string, id: string, name: string, role: Role | null }> } | null };

export type ListInvitationsQueryVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type ListInvitationsQuery = { account: { invitations: Array<{ createdAt: string, email: string, expiresAt: string, id: string, role: InvitedRole | null }> } | null };

export type InviteMemberMutationVariables = Exact<{
  accountId?: string | null | undefined;
  email: string;
  role: InvitedRole;
}>;


export type InviteMemberMutation = { inviteMember:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'Invitation', createdAt: string, email: string, expiresAt: string, id: string, role: InvitedRole | null }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type AcceptInvitationMutationVariables = Exact<{
  token: string;
}>;


export type AcceptInvitationMutation = { acceptInvitation:
    | { __typename: 'Account', createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } }
    | { __typename: 'InvalidTokenError', code: string, message: string }
   };

export type RevokeInvitationMutationVariables = Exact<{
  id: string;
}>;


export type RevokeInvitationMutation = { revokeInvitation:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SetMemberRoleMutationVariables = Exact<{
  id: string;
  role: Role;
}>;


export type SetMemberRoleMutation = { setMemberRole:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type RemoveMemberMutationVariables = Exact<{
  id: string;
  keys?: LeftKeys | null | undefined;
}>;


export type RemoveMemberMutation = { removeMember:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'KeysUndecidedError', code: string, message: string, keys: Array<{ createdAt: string, id: string, last4: string, name: string }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type ListNoticesQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListNoticesQuery = { account: { notices: { nodes: Array<{ clearedAt: string | null, createdAt: string, facts: unknown, id: string, kind: NoticeKind | null, mailed: boolean, deliveries: Array<{ channel: string | null, deliveredAt: string | null, held: boolean, nextAttemptAt: string | null, problem: string | null, state: NoticeDeliveryState | null }> }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type NoticeSettingsQueryVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type NoticeSettingsQuery = { account: { noticeSettings: { burnAmount: UsdAmount, burnMinutes: number, keyPercent: number, lowBalance: UsdAmount, mail: boolean, muted: Array<NoticeKind>, quietFrom: number | null, quietTo: number | null, timeZone: string } } | null };

export type UpdateNoticeSettingsMutationVariables = Exact<{
  input: NoticeSettingsInput;
}>;


export type UpdateNoticeSettingsMutation = { updateNoticeSettings:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'NoticeSettings', burnAmount: UsdAmount, burnMinutes: number, keyPercent: number, lowBalance: UsdAmount, mail: boolean, muted: Array<NoticeKind>, quietFrom: number | null, quietTo: number | null, timeZone: string }
   };

export type ListNoticeChannelsQueryVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type ListNoticeChannelsQuery = { account: { noticeChannels: Array<{ createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }> } | null };

export type CreateNoticeChannelMutationVariables = Exact<{
  input: CreateNoticeChannelInput;
}>;


export type CreateNoticeChannelMutation = { createNoticeChannel:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'CreatedNoticeChannel', signing: string | null, channel: { createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type UpdateNoticeChannelMutationVariables = Exact<{
  input: UpdateNoticeChannelInput;
}>;


export type UpdateNoticeChannelMutation = { updateNoticeChannel:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'NoticeChannel', createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }
   };

export type DeleteNoticeChannelMutationVariables = Exact<{
  id: string;
}>;


export type DeleteNoticeChannelMutation = { deleteNoticeChannel:
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'NoticeChannel', createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }
   };

export type TestNoticeChannelMutationVariables = Exact<{
  id: string;
}>;


export type TestNoticeChannelMutation = { testNoticeChannel:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'NoticeChannel', createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ListAccessTokensQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListAccessTokensQuery = { account: { accessTokens: { totalCount: number, edges: Array<{ cursor: string, node: { createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, name: string, prefix: string, scopes: Array<TokenScope> } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type CreateAccessTokenMutationVariables = Exact<{
  input: CreateAccessTokenInput;
}>;


export type CreateAccessTokenMutation = { createAccessToken:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'CreatedAccessToken', secret: string, accessToken: { createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, name: string, prefix: string, scopes: Array<TokenScope> } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type RevokeAccessTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeAccessTokenMutation = { revokeAccessToken:
    | { __typename: 'AccessToken', createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, name: string, prefix: string, scopes: Array<TokenScope> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type CreateAccountExportMutationVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type CreateAccountExportMutation = { createAccountExport:
    | { __typename: 'Download', expiresAt: string, url: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type EraseAccountMutationVariables = Exact<{
  accountId: string;
  code?: string | null | undefined;
  email: string;
  password?: string | null | undefined;
}>;


export type EraseAccountMutation = { eraseAccount:
    | { __typename: 'AccountErased', people: number, proofUrl: string }
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type OperatorViewsQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type OperatorViewsQuery = { account: { operatorViews: { nodes: Array<{ at: string, until: string }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type MarginsQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  by?: Array<MarginGroup> | MarginGroup | null | undefined;
  first?: number | null | undefined;
  from?: string | null | undefined;
  model?: string | null | undefined;
  period?: UsagePeriod | null | undefined;
  probes?: boolean | null | undefined;
  timeZone?: string | null | undefined;
  to?: string | null | undefined;
  upstream?: string | null | undefined;
}>;


export type MarginsQuery = { operator: { margins: { nodes: Array<{ bought: UsdAmount | null, charged: UsdAmount, margin: UsdAmount | null, model: string | null, requests: string, shortfall: UsdAmount, start: string | null, unknownBought: UsdAmount | null, unknownCharged: UsdAmount, unknownRequests: string, upstream: string | null, upstreamCost: UsdAmount | null, account: { id: string, name: string } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type RevenueQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  from?: string | null | undefined;
  model?: string | null | undefined;
  period?: UsagePeriod | null | undefined;
  timeZone?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type RevenueQuery = { operator: { revenue: { nodes: Array<{ bought: UsdAmount | null, charged: UsdAmount, cost: UsdAmount, failures: string, margin: UsdAmount | null, model: string | null, requests: string, shortfall: UsdAmount, start: string | null, unknownBought: UsdAmount | null, unknownCharged: UsdAmount, unknownRequests: string, upstreamCost: UsdAmount, tokens: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type ShortfallsQueryVariables = Exact<{
  after?: string | null | undefined;
  days?: number | null | undefined;
  first?: number | null | undefined;
}>;


export type ShortfallsQuery = { operator: { shortfalls: { nodes: Array<{ charged: UsdAmount, cost: UsdAmount, createdAt: string, model: string, requestId: string, operator: { shortfall: UsdAmount, account: { id: string, name: string } | null } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type VendorComparisonQueryVariables = Exact<{
  after?: string | null | undefined;
  differing?: boolean | null | undefined;
  first?: number | null | undefined;
  from: string;
  to: string;
  upstream?: string | null | undefined;
}>;


export type VendorComparisonQuery = { operator: { vendorComparison: { compared: number, differing: number, nodes: Array<{ apart: number, causes: Array<BillCause>, day: string, differs: boolean, estimated: string, model: string, unknown: string, unpaid: string, upstream: string, ledger: { cacheHit: string, cacheWrite: string, cost: UsdAmount | null, input: string, output: string, requests: string | null } | null, vendor: { cacheHit: string, cacheWrite: string, cost: UsdAmount | null, input: string, output: string, requests: string | null } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null }, totals: Array<{ apart: number, credits: UsdAmount, differs: boolean, unknown: string, upstream: string, ledger: { cacheHit: string, cacheWrite: string, cost: UsdAmount | null, input: string, output: string, requests: string | null }, vendor: { cacheHit: string, cacheWrite: string, cost: UsdAmount | null, input: string, output: string, requests: string | null } }> } } };

export type DifferingRequestsQueryVariables = Exact<{
  cause: BillCause;
  after?: string | null | undefined;
  first?: number | null | undefined;
  from: string;
  to: string;
  upstream?: string | null | undefined;
}>;


export type DifferingRequestsQuery = { operator: { vendorComparison: { nodes: Array<{ day: string, model: string, requests: Array<string>, upstream: string }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type ListVendorFilesQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  upstream?: string | null | undefined;
}>;


export type ListVendorFilesQuery = { operator: { vendorFiles: { nodes: Array<{ fileId: string, from: string, importedAt: string, importedBy: string, rows: number, to: string, undoneAt: string | null, upstream: string, version: number }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type ListRefundsQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  open?: boolean | null | undefined;
}>;


export type ListRefundsQuery = { operator: { refunds: { nodes: Array<{ createdBy: string, memo: string, note: string, refundId: string, undoneBy: string | null, undoneNote: string | null, unusedVnd: VndAmount, usedVnd: VndAmount, account: { id: string, name: string } | null, creditNote: { amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }, order: { id: string, memo: string } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type RefundOrderMutationVariables = Exact<{
  input: RefundOrderInput;
}>;


export type RefundOrderMutation = { refundOrder:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Refund', createdBy: string, memo: string, note: string, refundId: string, undoneBy: string | null, undoneNote: string | null, unusedVnd: VndAmount, usedVnd: VndAmount, account: { id: string, name: string } | null, creditNote: { amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }, order: { id: string, memo: string } | null }
   };

export type RefundTransferMutationVariables = Exact<{
  input: RefundTransferInput;
}>;


export type RefundTransferMutation = { refundTransfer:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Refund', createdBy: string, memo: string, note: string, refundId: string, undoneBy: string | null, undoneNote: string | null, unusedVnd: VndAmount, usedVnd: VndAmount, account: { id: string, name: string } | null, creditNote: { amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }, order: { id: string, memo: string } | null }
   };

export type PayRefundMutationVariables = Exact<{
  refundId: string;
  transferId: string;
}>;


export type PayRefundMutation = { payRefund:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Refund', createdBy: string, memo: string, note: string, refundId: string, undoneBy: string | null, undoneNote: string | null, unusedVnd: VndAmount, usedVnd: VndAmount, account: { id: string, name: string } | null, creditNote: { amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }, order: { id: string, memo: string } | null }
   };

export type UndoRefundMutationVariables = Exact<{
  input: UndoRefundInput;
}>;


export type UndoRefundMutation = { undoRefund:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Refund', createdBy: string, memo: string, note: string, refundId: string, undoneBy: string | null, undoneNote: string | null, unusedVnd: VndAmount, usedVnd: VndAmount, account: { id: string, name: string } | null, creditNote: { amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }, order: { id: string, memo: string } | null }
   };

export type UndoVendorImportMutationVariables = Exact<{
  fileId: string;
}>;


export type UndoVendorImportMutation = { undoVendorImport:
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'VendorFile', fileId: string, from: string, importedAt: string, importedBy: string, rows: number, to: string, undoneAt: string | null, upstream: string, version: number }
   };

export type CreateBookPaperDownloadMutationVariables = Exact<{
  input: CreateBookPaperDownloadInput;
}>;


export type CreateBookPaperDownloadMutation = { createBookPaperDownload:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Download', expiresAt: string, url: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type VendorBillsQueryVariables = Exact<{ [key: string]: never; }>;


export type VendorBillsQuery = { operator: { vendorBills: Array<{ firstDay: string | null, importedAt: string | null, lastDay: string | null, missingDays: Array<string>, upstream: string }> } };

export type NextMonthToCloseQueryVariables = Exact<{
  month?: string | null | undefined;
  timeZone?: string | null | undefined;
}>;


export type NextMonthToCloseQuery = { operator: { nextMonthToClose: { isOver: boolean, month: string, timeZone: string, imbalances: Array<{ computed: string, found: string, row: string }>, statement: { allowedNetVnd: VndAmount, allowedVnd: VndAmount, margin: UsdAmount, missingRates: Array<string>, shortfall: UsdAmount, unknownCharged: UsdAmount, unknownOfBought: UsdAmount, unknownRequests: string, bonus: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, bought: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, boughtNetVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, boughtVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, cash: { closing: VndAmount, credited: VndAmount, opening: VndAmount, partPayments: VndAmount, received: VndAmount, sent: VndAmount, sold: VndAmount, surplus: VndAmount, toSend: VndAmount, unassigned: VndAmount, undone: VndAmount, withoutOrder: VndAmount }, given: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, own: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, probe: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, trial: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, vendorCost: { bonus: UsdAmount, bought: UsdAmount, given: UsdAmount, own: UsdAmount, probe: UsdAmount, shortfall: UsdAmount, total: UsdAmount, trial: UsdAmount, unsplit: UsdAmount }, vnd: { foreignIncomeTax: VndAmount, foreignVat: VndAmount, income: VndAmount, rates: Array<string>, result: VndAmount, taxesBorne: boolean, vendorCost: VndAmount } | null } } } };

export type ClosedMonthsQueryVariables = Exact<{ [key: string]: never; }>;


export type ClosedMonthsQuery = { operator: { closedMonths: Array<{ closedAt: string, closedBy: string, digest: string | null, month: string, timeZone: string, earlier: { expired: UsdAmount, margin: UsdAmount, revenueVnd: VndAmount, shortfall: UsdAmount, unknownCharged: UsdAmount, unused: UsdAmount, upstreamCost: UsdAmount, used: UsdAmount, usedOfPurchases: UsdAmount, usedOfTrials: UsdAmount } | null, statement: { allowedNetVnd: VndAmount, allowedVnd: VndAmount, margin: UsdAmount, missingRates: Array<string>, shortfall: UsdAmount, unknownCharged: UsdAmount, unknownOfBought: UsdAmount, unknownRequests: string, bonus: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, bought: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, boughtNetVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, boughtVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, cash: { closing: VndAmount, credited: VndAmount, opening: VndAmount, partPayments: VndAmount, received: VndAmount, sent: VndAmount, sold: VndAmount, surplus: VndAmount, toSend: VndAmount, unassigned: VndAmount, undone: VndAmount, withoutOrder: VndAmount }, given: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, own: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, probe: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, trial: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, vendorCost: { bonus: UsdAmount, bought: UsdAmount, given: UsdAmount, own: UsdAmount, probe: UsdAmount, shortfall: UsdAmount, total: UsdAmount, trial: UsdAmount, unsplit: UsdAmount }, vnd: { foreignIncomeTax: VndAmount, foreignVat: VndAmount, income: VndAmount, rates: Array<string>, result: VndAmount, taxesBorne: boolean, vendorCost: VndAmount } | null } | null }> } };

export type ImportVendorUsageMutationVariables = Exact<{
  input: ImportVendorUsageInput;
}>;


export type ImportVendorUsageMutation = { importVendorUsage:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'VendorUsageImported', emptyDays: Array<string>, replaced: number, file: { fileId: string, from: string, importedAt: string, importedBy: string, rows: number, to: string, undoneAt: string | null, upstream: string, version: number } }
   };

export type CloseMonthMutationVariables = Exact<{
  month: string;
  timeZone?: string | null | undefined;
}>;


export type CloseMonthMutation = { closeMonth:
    | { __typename: 'ClosedMonth', closedAt: string, closedBy: string, digest: string | null, month: string, timeZone: string, earlier: { expired: UsdAmount, margin: UsdAmount, revenueVnd: VndAmount, shortfall: UsdAmount, unknownCharged: UsdAmount, unused: UsdAmount, upstreamCost: UsdAmount, used: UsdAmount, usedOfPurchases: UsdAmount, usedOfTrials: UsdAmount } | null, statement: { allowedNetVnd: VndAmount, allowedVnd: VndAmount, margin: UsdAmount, missingRates: Array<string>, shortfall: UsdAmount, unknownCharged: UsdAmount, unknownOfBought: UsdAmount, unknownRequests: string, bonus: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, bought: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, boughtNetVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, boughtVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, cash: { closing: VndAmount, credited: VndAmount, opening: VndAmount, partPayments: VndAmount, received: VndAmount, sent: VndAmount, sold: VndAmount, surplus: VndAmount, toSend: VndAmount, unassigned: VndAmount, undone: VndAmount, withoutOrder: VndAmount }, given: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, own: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, probe: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, trial: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, vendorCost: { bonus: UsdAmount, bought: UsdAmount, given: UsdAmount, own: UsdAmount, probe: UsdAmount, shortfall: UsdAmount, total: UsdAmount, trial: UsdAmount, unsplit: UsdAmount }, vnd: { foreignIncomeTax: VndAmount, foreignVat: VndAmount, income: VndAmount, rates: Array<string>, result: VndAmount, taxesBorne: boolean, vendorCost: VndAmount } | null } | null }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type CreateBooksDownloadMutationVariables = Exact<{ [key: string]: never; }>;


export type CreateBooksDownloadMutation = { createBooksDownload:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Download', expiresAt: string, url: string }
   };

export type RefundQuoteQueryVariables = Exact<{
  budget?: UsdAmount | null | undefined;
  orderId: string;
}>;


export type RefundQuoteQuery = { operator: { refundQuote: { budget: UsdAmount, free: UsdAmount, held: UsdAmount, mostUsedVnd: VndAmount, unusedVnd: VndAmount } | null } };

export type BookSettingsQueryVariables = Exact<{
  month: string;
}>;


export type BookSettingsQuery = { operator: { bookTaxes: Array<{ foreignIncome: number, foreignNet: boolean, foreignVat: number, note: string, salesVat: number, setAt: string, setBy: string, validFrom: string }>, exchangeRates: Array<{ period: string, rate: string, setAt: string, setBy: string, source: string }>, journalAccounts: Array<{ number: string, role: JournalAccountRole }> } };

export type SetExchangeRateMutationVariables = Exact<{
  input: SetExchangeRateInput;
}>;


export type SetExchangeRateMutation = { setExchangeRate:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'ExchangeRate', period: string, rate: string, setAt: string, setBy: string, source: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type SetBookTaxesMutationVariables = Exact<{
  input: SetBookTaxesInput;
}>;


export type SetBookTaxesMutation = { setBookTaxes:
    | { __typename: 'BookTaxes', foreignIncome: number, foreignNet: boolean, foreignVat: number, note: string, salesVat: number, setAt: string, setBy: string, validFrom: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type SaveJournalAccountsMutationVariables = Exact<{
  accounts: Array<JournalAccountInput> | JournalAccountInput;
}>;


export type SaveJournalAccountsMutation = { saveJournalAccounts:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'JournalAccountsSaved', accounts: Array<{ number: string, role: JournalAccountRole }> }
   };

export type ModelsQueryVariables = Exact<{ [key: string]: never; }>;


export type ModelsQuery = { models: Array<{ agentStepsFor5Usd: number | null, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, contextWindow: number, displayName: string, family: string, id: string, kind: ModelKind | null, markedAgentStepsFor5Usd: number | null, maxOutputTokens: number, maxPromptTokens: number | null, modelId: string, nativeProtocols: Array<Protocol>, pricedSince: string, protocols: Array<Protocol>, simulated: boolean, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null } }> };

export type ModelQueryVariables = Exact<{
  modelId: string;
}>;


export type ModelQuery = { model: { agentStepsFor5Usd: number | null, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, contextWindow: number, displayName: string, family: string, id: string, kind: ModelKind | null, markedAgentStepsFor5Usd: number | null, maxOutputTokens: number, maxPromptTokens: number | null, modelId: string, nativeProtocols: Array<Protocol>, pricedSince: string, protocols: Array<Protocol>, simulated: boolean, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null } } | null };

type Problem_BusyError_Fragment = { retryAfterSeconds: number, code: string, message: string };

type Problem_ConflictError_Fragment = { code: string, message: string };

type Problem_EmailNotVerifiedError_Fragment = { code: string, message: string };

type Problem_InputError_Fragment = { code: string, message: string, problems: Array<{ message: string, path: Array<string> }> };

type Problem_InvalidCredentialsError_Fragment = { code: string, message: string };

type Problem_InvalidTokenError_Fragment = { code: string, message: string };

type Problem_KeyCreatedBeforeError_Fragment = { code: string, message: string };

type Problem_KeysUndecidedError_Fragment = { code: string, message: string };

type Problem_NotAllowedError_Fragment = { code: string, message: string };

type Problem_NotFoundError_Fragment = { code: string, message: string };

type Problem_RequestRefusedError_Fragment = { code: string, message: string };

type Problem_TooManyAttemptsError_Fragment = { retryAfterSeconds: number, code: string, message: string };

export type ProblemFragment =
  | Problem_BusyError_Fragment
  | Problem_ConflictError_Fragment
  | Problem_EmailNotVerifiedError_Fragment
  | Problem_InputError_Fragment
  | Problem_InvalidCredentialsError_Fragment
  | Problem_InvalidTokenError_Fragment
  | Problem_KeyCreatedBeforeError_Fragment
  | Problem_KeysUndecidedError_Fragment
  | Problem_NotAllowedError_Fragment
  | Problem_NotFoundError_Fragment
  | Problem_RequestRefusedError_Fragment
  | Problem_TooManyAttemptsError_Fragment
;

export type AccessTokenFragment = { createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, name: string, prefix: string, scopes: Array<TokenScope> };

export type AccountFragment = { createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } };

export type AnnouncementFragment = { body: string, bodyVi: string | null, endsAt: string | null, id: string, kind: AnnouncementKind | null, modelIds: Array<string>, startsAt: string, title: string, titleVi: string | null, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> };

export type ApiKeyFragment = { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } };

export type MemberSpendFragment = { held: UsdAmount, isMember: boolean, keys: number, lifetime: UsdAmount, memberId: string, monthlyBudget: UsdAmount | null, name: string | null, personalKeys: number, thisMonth: UsdAmount, months: Array<{ charged: UsdAmount, month: string }> };

export type MonthSpendFragment = { charged: UsdAmount, month: string };

export type ProjectSpendFragment = { held: UsdAmount, keys: number, lifetime: UsdAmount, thisMonth: UsdAmount, limits: { lifetime: UsdAmount | null, month: UsdAmount | null } };

export type ProjectFragment = { archivedAt: string | null, createdAt: string, id: string, name: string };

export type AccountLimitsFragment = { addresses: Array<string>, maxConcurrent: number | null, requestsPerMinute: number | null, tokensPerMinute: number | null, timeZone: string, spend: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, spent: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } | null };

export type BurnLimitFragment = { amount: UsdAmount, minutes: number };

export type AuditEntryFragment = { action: string, actor: string, actorName: string | null, after: unknown, before: unknown, createdAt: string, id: string, subject: string, account: { id: string, name: string } | null };

export type BackupCodesFragment = { backupCodes: Array<string> };

export type BankAccountFragment = { account: string, bank: string, bin: string, name: string, demonstration: boolean };

export type BankTransferFragment = { amountVnd: VndAmount, bankReference: string | null, bookedAt: string, createdAt: string, direction: TransferDirection | null, id: string, matchedBy: string | null, matchedByName: string | null, memo: string, source: TransferSource | null, providerId: string, order: { id: string, memo: string } | null, review: { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null } | null };

export type BrokenInvariantFragment = { invariant: string, rows: unknown };

export type BudgetFragment = { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> };

export type CatalogEntryFragment = { allow: Array<string>, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, reasoningTokensPerSecond: number | null, onUnknownMembers: UnknownMembers | null, contextWindow: number, createdAt: string, displayName: string, enabled: boolean, family: string, id: string, kind: ModelKind | null, maxOutputTokens: number, modelId: string, priceVersions: Array<{ createdAt: string, id: string, maxPromptTokens: number | null, validFrom: string, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> };

export type CreatedAccessTokenFragment = { secret: string, accessToken: { createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, name: string, prefix: string, scopes: Array<TokenScope> } };

export type NewApiKeyFragment = { secret: string, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } };

export type DoneFragment = { id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null };

export type DownloadFragment = { expiresAt: string, url: string };

export type GrantFragment = { amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount };

export type GrantEndedFragment = { held: UsdAmount, taken: UsdAmount, grant: { amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount } | null };

export type GrantGivenFragment = { givenBefore: boolean, grant: { amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount } | null };

export type HoldFragment = { amount: UsdAmount, heldAt: string, requestId: string, account: { email: string, id: string, name: string } | null, key: { id: string, name: string } | null };

export type IncidentFragment = { cause: IncidentCause | null, endedAt: string | null, id: string, impact: IncidentImpact | null, modelId: string, startedAt: string, affectedWays: Array<{ mode: ProbeMode | null, protocol: Protocol | null }>, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> };

export type InvitationFragment = { createdAt: string, email: string, expiresAt: string, id: string, role: InvitedRole | null };

export type SpendFragment = { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount };

export type LedgerEntryFragment = { charged: UsdAmount, cost: UsdAmount, createdAt: string, freeAfter: UsdAmount, id: string, latencyMs: number, model: string, outcome: RequestOutcome | null, protocol: Protocol | null, requestId: string, stream: boolean, timeToFirstByteMs: number | null, usageSource: UsageSource | null, attribution: { session: string | null, tags: Array<string>, user: string | null } | null, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } | null, operator: { margin: UsdAmount | null, upstream: string | null, upstreamCost: UsdAmount | null } | null, lines: Array<{ amount: UsdAmount, model: string, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }> }>, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }>, clock: { pricedAt: string, window: { weekdays: Array<Weekday>, period: string, timeZone: string } | null } | null, variant: { asked: string, counted: string | null, served: string | null } | null, tier: { abovePromptTokens: number | null, upToPromptTokens: number | null } | null, units: Array<{ amount: UsdAmount, count: number, price: UsdAmount, chargedUnit: ChargedUnit | null }>, usage: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } };

export type MemberFragment = { createdAt: string, email: string, id: string, name: string, role: Role | null };

export type ModelFragment = { agentStepsFor5Usd: number | null, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, contextWindow: number, displayName: string, family: string, id: string, kind: ModelKind | null, markedAgentStepsFor5Usd: number | null, maxOutputTokens: number, maxPromptTokens: number | null, modelId: string, nativeProtocols: Array<Protocol>, pricedSince: string, protocols: Array<Protocol>, simulated: boolean, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null } };

export type ModelMismatchFragment = { asked: string, closedAt: string | null, closedBy: string | null, count: string, firstSeenAt: string, id: string, lastRequestId: string, lastSeenAt: string, model: string, reported: string, upstream: string };

export type ModelStatusFragment = { displayName: string, everyMinutes: number | null, measuredSince: string | null, modelId: string, requestsSucceeded: number | null, simulated: boolean, state: ServiceState, days: Array<{ at: string, uptime: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number } }>, last7Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last24Hours: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last30Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last90Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, requests: Array<{ count: number | null, protocol: Protocol | null, succeeded: number | null }>, ways: Array<{ checkedAt: string, latencyMs: number | null, mode: ProbeMode | null, outcome: ProbeOutcome | null, protocol: Protocol | null, reason: string | null, timeToFirstByteMs: number | null }> };

export type ModelStateFragment = { displayName: string, everyMinutes: number | null, measuredSince: string | null, modelId: string, requestsSucceeded: number | null, simulated: boolean, state: ServiceState, last7Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last24Hours: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last30Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last90Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, requests: Array<{ count: number | null, protocol: Protocol | null, succeeded: number | null }>, ways: Array<{ checkedAt: string, latencyMs: number | null, mode: ProbeMode | null, outcome: ProbeOutcome | null, protocol: Protocol | null, reason: string | null, timeToFirstByteMs: number | null }> };

export type ModelProbingFragment = { askedMinutes: number, askedMonthlyCost: UsdAmount, effectiveMinutes: number, everyMinutes: number | null, measured: boolean, modelId: string, monthlyBudget: UsdAmount | null, monthlyCost: UsdAmount, monthlyUpstreamCost: UsdAmount | null };

export type ProbeAgentFragment = { createdAt: string, id: string, last4: string, lastSeenAt: string | null, measuredAt: string | null, name: string, region: string, revokedAt: string | null };

export type ProbingFragment = { everyMinutes: number, monthlyBudget: UsdAmount, observers: number, serviceProbes: boolean, spentThisMonth: UsdAmount, models: Array<{ askedMinutes: number, askedMonthlyCost: UsdAmount, effectiveMinutes: number, everyMinutes: number | null, measured: boolean, modelId: string, monthlyBudget: UsdAmount | null, monthlyCost: UsdAmount, monthlyUpstreamCost: UsdAmount | null }> };

export type RequestShareFragment = { count: number | null, protocol: Protocol | null, succeeded: number | null };

export type ServiceAbsenceFragment = { from: string, to: string };

export type StatusUpdateFragment = { body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null };

export type UptimeObserverFragment = { agent: boolean, measuredAt: string, name: string, region: string };

export type NoticeFragment = { clearedAt: string | null, createdAt: string, facts: unknown, id: string, kind: NoticeKind | null, mailed: boolean, deliveries: Array<{ channel: string | null, deliveredAt: string | null, held: boolean, nextAttemptAt: string | null, problem: string | null, state: NoticeDeliveryState | null }> };

export type NoticeSettingsFragment = { burnAmount: UsdAmount, burnMinutes: number, keyPercent: number, lowBalance: UsdAmount, mail: boolean, muted: Array<NoticeKind>, quietFrom: number | null, quietTo: number | null, timeZone: string };

export type BusinessNoticeSettingsFragment = { billDays: number, billPercent: number, mail: boolean, marginPercent: number | null, muted: Array<NoticeKind>, quietFrom: number | null, quietTo: number | null, shortfall: UsdAmount, timeZone: string };

export type NoticeChannelFragment = { createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string };

export type MatchableOrderFragment = { bonus: UsdAmount, budget: UsdAmount, createdAt: string, id: string, memo: string, planName: string, priceVnd: VndAmount, receivedVnd: VndAmount, status: OrderStatus | null, account: { email: string, id: string, name: string } };

export type CreditNoteFragment = { amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string };

export type OrderFragment = { bonus: UsdAmount, budget: UsdAmount, createdAt: string, expiresAt: string, freeAmount: boolean, giftTo: string | null, id: string, memo: string, paidAt: string | null, planName: string, priceVnd: VndAmount, receiptUrl: string | null, receivedVnd: VndAmount, status: OrderStatus | null, validDays: number | null, account: { email: string, name: string }, creditNotes: Array<{ amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }>, invoice: { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null } | null, payment: { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } } | null, payments: Array<{ amountVnd: VndAmount, bankReference: string | null, bookedAt: string }>, plan: { planId: string }, upgradedOrder: { id: string } | null };

export type OrderInvoiceFragment = { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null };

export type OrderPaymentFragment = { amountVnd: VndAmount, bankReference: string | null, bookedAt: string };

export type PageInfoFragment = { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null };

export type PaymentInstructionsFragment = { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } };

export type PlanFragment = { budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount };

export type PriceTierFragment = { abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount };

export type PriceVersionFragment = { createdAt: string, id: string, maxPromptTokens: number | null, validFrom: string, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } };

export type PricesFragment = { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> };

export type PricesInVndFragment = { clock: { windows: Array<{ tiers: Array<{ vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }> } | null, tiers: Array<{ vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, variants: Array<{ tiers: Array<{ vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }>, vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null }> };

export type PriceTierInVndFragment = { vndAtBest: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null, vndAtStarter: { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount } | null };

export type VndPricesFragment = { cacheHit: VndAmount, cacheWrite1h: VndAmount, cacheWrite5m: VndAmount, input: VndAmount, output: VndAmount };

export type PriceClockFragment = { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> };

export type PriceWindowFragment = { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> };

export type PriceVariantChoiceFragment = { asked: string, counted: string | null, served: string | null };

export type PriceVariantFragment = { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> };

export type PriceMomentFragment = { pricedAt: string, window: { weekdays: Array<Weekday>, period: string, timeZone: string } | null };

export type PriceHoursFragment = { weekdays: Array<Weekday>, period: string, timeZone: string };

export type PromptTierFragment = { abovePromptTokens: number | null, upToPromptTokens: number | null };

export type ProbedWayFragment = { checkedAt: string, latencyMs: number | null, mode: ProbeMode | null, outcome: ProbeOutcome | null, protocol: Protocol | null, reason: string | null, timeToFirstByteMs: number | null };

export type ReceiptLineFragment = { amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string };

export type MarginRowFragment = { bought: UsdAmount | null, charged: UsdAmount, margin: UsdAmount | null, model: string | null, requests: string, shortfall: UsdAmount, start: string | null, unknownBought: UsdAmount | null, unknownCharged: UsdAmount, unknownRequests: string, upstream: string | null, upstreamCost: UsdAmount | null, account: { id: string, name: string } | null };

export type RevenueRowFragment = { bought: UsdAmount | null, charged: UsdAmount, cost: UsdAmount, failures: string, margin: UsdAmount | null, model: string | null, requests: string, shortfall: UsdAmount, start: string | null, unknownBought: UsdAmount | null, unknownCharged: UsdAmount, unknownRequests: string, upstreamCost: UsdAmount, tokens: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } };

export type RouteFragment = { enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } };

export type RouteTestFragment = { latencyMs: number, ok: boolean, problem: string | null, status: number | null };

export type EstimateFragment = { hold: UsdAmount, inputTokens: number, least: UsdAmount, model: string, most: UsdAmount, bound: Array<{ count: number | null, isWindow: boolean, kind: EstimateBoundKind, tokens: number }> };

export type IdentityFragment = { id: string, lastUsedAt: string | null, linkedAt: string, name: string, provider: string };

export type PasskeyFragment = { backedUp: boolean, createdAt: string, id: string, lastUsedAt: string | null, name: string };

export type PasskeyOptionsFragment = { json: string };

export type SecondFactorSetupFragment = { backupCodes: Array<string>, uri: string };

export type ServiceStatusFragment = { generatedAt: string, measuredSince: string | null, state: ServiceState, absences: Array<{ from: string, to: string }>, announcements: Array<{ body: string, bodyVi: string | null, endsAt: string | null, id: string, kind: AnnouncementKind | null, modelIds: Array<string>, startsAt: string, title: string, titleVi: string | null, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }>, incidents: Array<{ cause: IncidentCause | null, endedAt: string | null, id: string, impact: IncidentImpact | null, modelId: string, startedAt: string, affectedWays: Array<{ mode: ProbeMode | null, protocol: Protocol | null }>, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }>, models: Array<{ displayName: string, everyMinutes: number | null, measuredSince: string | null, modelId: string, requestsSucceeded: number | null, simulated: boolean, state: ServiceState, days: Array<{ at: string, uptime: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number } }>, last7Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last24Hours: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last30Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last90Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, requests: Array<{ count: number | null, protocol: Protocol | null, succeeded: number | null }>, ways: Array<{ checkedAt: string, latencyMs: number | null, mode: ProbeMode | null, outcome: ProbeOutcome | null, protocol: Protocol | null, reason: string | null, timeToFirstByteMs: number | null }> }>, observers: Array<{ agent: boolean, measuredAt: string, name: string, region: string }> };

export type SessionFragment = { createdAt: string, current: boolean, device: string | null, expiresAt: string, id: string, ipAddress: string | null, lastUsedAt: string, passkey: boolean, userAgent: string | null };

export type SignedInFragment = { secondFactorRequired: boolean };

export type SpendLimitsFragment = { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null };

export type RunLineFragment = { amount: UsdAmount, model: string, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }> };

export type UnitLineFragment = { amount: UsdAmount, count: number, price: UsdAmount, chargedUnit: ChargedUnit | null };

export type ImagePricesFragment = { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> };

export type UnitPricesFragment = { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null };

export type TokensFragment = { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string };

export type TransferReviewFragment = { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null };

export type UpstreamFragment = { baseUrl: string, country: string | null, enabled: boolean, id: string, onDisconnect: OnDisconnect, profile: string | null, protocol: Protocol | null, recipient: string | null, simulated: boolean, upstreamId: string, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null }, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null, keys: Array<{ createdAt: string, enabled: boolean, id: string, last4: string }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> };

export type UpstreamHealthFragment = { consecutiveFailures: number, ejected: boolean, pausedKeys: number };

export type UpstreamKeyFragment = { createdAt: string, enabled: boolean, id: string, last4: string };

export type UptimeFragment = { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number };

export type UptimePointFragment = { at: string, uptime: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number } };

export type UsageRowFragment = { charged: UsdAmount, cost: UsdAmount, failures: string, isRest: boolean, model: string | null, outcome: RequestOutcome | null, requests: string, start: string | null, key: { deletedAt: string | null, id: string, last4: string, name: string } | null, maker: { memberId: string, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, tokens: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } };

export type UserFragment = { createdAt: string, email: string, emailVerified: boolean, hasPassword: boolean, id: string, language: Language | null, name: string, operator: boolean, secondFactor: boolean };

export type ViewerFragment = { scopes: Array<TokenScope>, viewUntil: string | null, accounts: Array<{ id: string, name: string, status: AccountStatus | null }>, operator: { allowedMutations: Array<string>, role: OperatorRole | null } | null, sessions: Array<{ createdAt: string, current: boolean, device: string | null, expiresAt: string, id: string, ipAddress: string | null, lastUsedAt: string, passkey: boolean, userAgent: string | null }>, user: { createdAt: string, email: string, emailVerified: boolean, hasPassword: boolean, id: string, language: Language | null, name: string, operator: boolean, secondFactor: boolean } | null };

export type VendorProfileFragment = { displayName: string, keyVariable: string | null, profile: string, endpoints: Array<{ baseUrl: string | null, protocol: Protocol, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null } }>, quirks: Array<{ source: string, what: string }> };

export type WebhookAttemptFragment = { createdAt: string, durationMs: number, problem: string | null, status: number | null };

export type WebhookDeliveryFragment = { body: string, createdAt: string, deliveredAt: string | null, event: WebhookEvent | null, eventId: string, id: string, nextAttemptAt: string | null, status: WebhookDeliveryStatus | null, attempts: Array<{ createdAt: string, durationMs: number, problem: string | null, status: number | null }> };

export type WebhookEndpointFragment = { createdAt: string, description: string, enabled: boolean, events: Array<WebhookEvent>, id: string, url: string };

export type WebhookEndpointWithSecretFragment = { secret: string, endpoint: { createdAt: string, description: string, enabled: boolean, events: Array<WebhookEvent>, id: string, url: string } };

export type TransferProposalFragment = { differences: number, reason: TransferProposalReason, order: { bonus: UsdAmount, budget: UsdAmount, createdAt: string, id: string, memo: string, planName: string, priceVnd: VndAmount, receivedVnd: VndAmount, status: OrderStatus | null, account: { email: string, id: string, name: string } } };

export type VendorFragment = { keys: Array<string>, name: string, source: string, sourceDate: string, vendorId: string, models: Array<{ contextWindow: number, displayName: string, maxOutputTokens: number, modelId: string, routeId: string | null, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }> };

export type VendorModelFragment = { contextWindow: number, displayName: string, maxOutputTokens: number, modelId: string, routeId: string | null, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } };

export type SellerFragment = { address: string, name: string, privacyUrl: string, refundUrl: string, supportEmail: string, supportPhone: string, taxCode: string, termsUrl: string };

export type StatementFragment = { charged: UsdAmount, closing: UsdAmount, digest: string | null, expired: UsdAmount, granted: UsdAmount, month: string, opening: UsdAmount, takenBack: UsdAmount, url: string };

export type BonusStepFragment = { basisPoints: number, fromVnd: VndAmount };

export type CodeBatchFragment = { amount: UsdAmount, count: number, createdAt: string, expiresAt: string | null, id: string, name: string, revokedAt: string | null, used: number, uses: number, validDays: number | null, plan: { name: string, planId: string } | null };

export type CodeRedemptionFragment = { last4: string, redeemedAt: string, account: { email: string, id: string, name: string } | null };

export type TopUpFragment = { maxVnd: VndAmount, minVnd: VndAmount, plan: { budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount } };

export type TopUpSavedFragment = { bonusSteps: Array<{ basisPoints: number, fromVnd: VndAmount }>, topUp: { maxVnd: VndAmount, minVnd: VndAmount, plan: { budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount } } | null };

export type TimelineEventFragment = { actor: string | null, actorName: string | null, at: string, kind: TimelineKind, subject: string, text: string | null, usd: UsdAmount | null, vnd: VndAmount | null };

export type ComparedUsageFragment = { cacheHit: string, cacheWrite: string, cost: UsdAmount | null, input: string, output: string, requests: string | null };

export type VendorComparisonFragment = { apart: number, causes: Array<BillCause>, day: string, differs: boolean, estimated: string, model: string, unknown: string, unpaid: string, upstream: string, ledger: { cacheHit: string, cacheWrite: string, cost: UsdAmount | null, input: string, output: string, requests: string | null } | null, vendor: { cacheHit: string, cacheWrite: string, cost: UsdAmount | null, input: string, output: string, requests: string | null } | null };

export type VendorBillsFragment = { firstDay: string | null, importedAt: string | null, lastDay: string | null, missingDays: Array<string>, upstream: string };

export type BudgetRollForwardFragment = { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount };

export type VndRollForwardFragment = { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount };

export type MonthStatementFragment = { allowedNetVnd: VndAmount, allowedVnd: VndAmount, margin: UsdAmount, missingRates: Array<string>, shortfall: UsdAmount, unknownCharged: UsdAmount, unknownOfBought: UsdAmount, unknownRequests: string, bonus: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, bought: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, boughtNetVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, boughtVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, cash: { closing: VndAmount, credited: VndAmount, opening: VndAmount, partPayments: VndAmount, received: VndAmount, sent: VndAmount, sold: VndAmount, surplus: VndAmount, toSend: VndAmount, unassigned: VndAmount, undone: VndAmount, withoutOrder: VndAmount }, given: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, own: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, probe: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, trial: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, vendorCost: { bonus: UsdAmount, bought: UsdAmount, given: UsdAmount, own: UsdAmount, probe: UsdAmount, shortfall: UsdAmount, total: UsdAmount, trial: UsdAmount, unsplit: UsdAmount }, vnd: { foreignIncomeTax: VndAmount, foreignVat: VndAmount, income: VndAmount, rates: Array<string>, result: VndAmount, taxesBorne: boolean, vendorCost: VndAmount } | null };

export type MonthPreviewFragment = { isOver: boolean, month: string, timeZone: string, imbalances: Array<{ computed: string, found: string, row: string }>, statement: { allowedNetVnd: VndAmount, allowedVnd: VndAmount, margin: UsdAmount, missingRates: Array<string>, shortfall: UsdAmount, unknownCharged: UsdAmount, unknownOfBought: UsdAmount, unknownRequests: string, bonus: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, bought: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, boughtNetVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, boughtVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, cash: { closing: VndAmount, credited: VndAmount, opening: VndAmount, partPayments: VndAmount, received: VndAmount, sent: VndAmount, sold: VndAmount, surplus: VndAmount, toSend: VndAmount, unassigned: VndAmount, undone: VndAmount, withoutOrder: VndAmount }, given: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, own: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, probe: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, trial: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, vendorCost: { bonus: UsdAmount, bought: UsdAmount, given: UsdAmount, own: UsdAmount, probe: UsdAmount, shortfall: UsdAmount, total: UsdAmount, trial: UsdAmount, unsplit: UsdAmount }, vnd: { foreignIncomeTax: VndAmount, foreignVat: VndAmount, income: VndAmount, rates: Array<string>, result: VndAmount, taxesBorne: boolean, vendorCost: VndAmount } | null } };

export type ClosedMonthFragment = { closedAt: string, closedBy: string, digest: string | null, month: string, timeZone: string, earlier: { expired: UsdAmount, margin: UsdAmount, revenueVnd: VndAmount, shortfall: UsdAmount, unknownCharged: UsdAmount, unused: UsdAmount, upstreamCost: UsdAmount, used: UsdAmount, usedOfPurchases: UsdAmount, usedOfTrials: UsdAmount } | null, statement: { allowedNetVnd: VndAmount, allowedVnd: VndAmount, margin: UsdAmount, missingRates: Array<string>, shortfall: UsdAmount, unknownCharged: UsdAmount, unknownOfBought: UsdAmount, unknownRequests: string, bonus: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, bought: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, boughtNetVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, boughtVnd: { added: VndAmount, closing: VndAmount, expired: VndAmount, opening: VndAmount, refunded: VndAmount, undone: VndAmount, used: VndAmount }, cash: { closing: VndAmount, credited: VndAmount, opening: VndAmount, partPayments: VndAmount, received: VndAmount, sent: VndAmount, sold: VndAmount, surplus: VndAmount, toSend: VndAmount, unassigned: VndAmount, undone: VndAmount, withoutOrder: VndAmount }, given: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, own: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, probe: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, trial: { added: UsdAmount, closing: UsdAmount, expired: UsdAmount, opening: UsdAmount, refunded: UsdAmount, undone: UsdAmount, used: UsdAmount }, vendorCost: { bonus: UsdAmount, bought: UsdAmount, given: UsdAmount, own: UsdAmount, probe: UsdAmount, shortfall: UsdAmount, total: UsdAmount, trial: UsdAmount, unsplit: UsdAmount }, vnd: { foreignIncomeTax: VndAmount, foreignVat: VndAmount, income: VndAmount, rates: Array<string>, result: VndAmount, taxesBorne: boolean, vendorCost: VndAmount } | null } | null };

export type RequestAttributionFragment = { session: string | null, tags: Array<string>, user: string | null };

export type AttributedUsageFragment = { charged: UsdAmount, cost: UsdAmount, firstAt: string, label: string, lastAt: string, model: string | null, requests: string, tokens: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } };

export type UpstreamFeaturesFragment = { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null };

export type VendorFileFragment = { fileId: string, from: string, importedAt: string, importedBy: string, rows: number, to: string, undoneAt: string | null, upstream: string, version: number };

export type RefundFragment = { createdBy: string, memo: string, note: string, refundId: string, undoneBy: string | null, undoneNote: string | null, unusedVnd: VndAmount, usedVnd: VndAmount, account: { id: string, name: string } | null, creditNote: { amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }, order: { id: string, memo: string } | null };

export type ExchangeRateFragment = { period: string, rate: string, setAt: string, setBy: string, source: string };

export type BookTaxesFragment = { foreignIncome: number, foreignNet: boolean, foreignVat: number, note: string, salesVat: number, setAt: string, setBy: string, validFrom: string };

export type JournalAccountFragment = { number: string, role: JournalAccountRole };

export type BatchFragment = { bound: UsdAmount, cancelAt: string | null, canceled: number, charged: UsdAmount | null, createdAt: string, endedAt: string | null, endpoint: string, errored: number, expired: number, expiresAt: string | null, form: BatchForm | null, held: UsdAmount, id: string, lines: number, models: Array<string>, name: string, settledAt: string | null, state: BatchState | null, succeeded: number, key: { id: string, name: string } | null };

export type ListKeysQueryVariables = Exact<{
  accountId?: string | null | undefined;
  active?: boolean | null | undefined;
  after?: string | null | undefined;
  deleted?: boolean | null | undefined;
  first?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type ListKeysQuery = { account: { keys: { totalCount: number, edges: Array<{ cursor: string, node: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type FindKeyQueryVariables = Exact<{
  id: string;
}>;


export type FindKeyQuery = { node:
    | { __typename: 'AccessToken' }
    | { __typename: 'Account' }
    | { __typename: 'ApiKey', addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } }
    | { __typename: 'BankTransfer' }
    | { __typename: 'Batch' }
    | { __typename: 'CatalogEntry' }
    | { __typename: 'LedgerEntry' }
    | { __typename: 'Model' }
    | { __typename: 'Order' }
    | { __typename: 'Plan' }
    | { __typename: 'Project' }
    | { __typename: 'Route' }
    | { __typename: 'Upstream' }
    | { __typename: 'User' }
    | { __typename: 'WebhookEndpoint' }
   | null };

export type CreateKeyMutationVariables = Exact<{
  input: CreateKeyInput;
}>;


export type CreateKeyMutation = { createKey:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'KeyCreatedBeforeError', code: string, message: string, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } }
    | { __typename: 'NewApiKey', secret: string, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type UpdateKeyMutationVariables = Exact<{
  input: UpdateKeyInput;
}>;


export type UpdateKeyMutation = { updateKey:
    | { __typename: 'ApiKey', addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type RotateKeyMutationVariables = Exact<{
  graceSeconds?: number | null | undefined;
  id: string;
}>;


export type RotateKeyMutation = { rotateKey:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NewApiKey', secret: string, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type DeleteKeyMutationVariables = Exact<{
  id: string;
}>;


export type DeleteKeyMutation = { deleteKey:
    | { __typename: 'ApiKey', addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type ListProjectsQueryVariables = Exact<{
  accountId?: string | null | undefined;
  archived?: boolean | null | undefined;
}>;


export type ListProjectsQuery = { account: { projects: Array<{ archivedAt: string | null, createdAt: string, id: string, name: string, spend: { held: UsdAmount, keys: number, lifetime: UsdAmount, thisMonth: UsdAmount, limits: { lifetime: UsdAmount | null, month: UsdAmount | null } } }> } | null };

export type ProjectQueryVariables = Exact<{
  id: string;
  months?: number | null | undefined;
}>;


export type ProjectQuery = { node:
    | { __typename: 'AccessToken' }
    | { __typename: 'Account' }
    | { __typename: 'ApiKey' }
    | { __typename: 'BankTransfer' }
    | { __typename: 'Batch' }
    | { __typename: 'CatalogEntry' }
    | { __typename: 'LedgerEntry' }
    | { __typename: 'Model' }
    | { __typename: 'Order' }
    | { __typename: 'Plan' }
    | { __typename: 'Project', archivedAt: string | null, createdAt: string, id: string, name: string, months: Array<{ charged: UsdAmount, month: string }>, spend: { held: UsdAmount, keys: number, lifetime: UsdAmount, thisMonth: UsdAmount, limits: { lifetime: UsdAmount | null, month: UsdAmount | null } } }
    | { __typename: 'Route' }
    | { __typename: 'Upstream' }
    | { __typename: 'User' }
    | { __typename: 'WebhookEndpoint' }
   | null };

export type MemberSpendQueryVariables = Exact<{
  accountId?: string | null | undefined;
  months?: number | null | undefined;
}>;


export type MemberSpendQuery = { account: { memberSpend: Array<{ held: UsdAmount, isMember: boolean, keys: number, lifetime: UsdAmount, memberId: string, monthlyBudget: UsdAmount | null, name: string | null, personalKeys: number, thisMonth: UsdAmount, months: Array<{ charged: UsdAmount, month: string }> }> } | null };

export type SetMemberBudgetMutationVariables = Exact<{
  input: SetMemberBudgetInput;
}>;


export type SetMemberBudgetMutation = { setMemberBudget:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'MemberSpend', held: UsdAmount, isMember: boolean, keys: number, lifetime: UsdAmount, memberId: string, monthlyBudget: UsdAmount | null, name: string | null, personalKeys: number, thisMonth: UsdAmount, months: Array<{ charged: UsdAmount, month: string }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type CreateProjectMutationVariables = Exact<{
  input: CreateProjectInput;
}>;


export type CreateProjectMutation = { createProject:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Project', archivedAt: string | null, createdAt: string, id: string, name: string }
   };

export type UpdateProjectMutationVariables = Exact<{
  input: UpdateProjectInput;
}>;


export type UpdateProjectMutation = { updateProject:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Project', archivedAt: string | null, createdAt: string, id: string, name: string }
   };

export type EstimateQueryVariables = Exact<{
  body: string;
  format: EstimateFormat;
  keyId: string;
}>;


export type EstimateQuery = { estimate:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Estimate', hold: UsdAmount, inputTokens: number, least: UsdAmount, model: string, most: UsdAmount, bound: Array<{ count: number | null, isWindow: boolean, kind: EstimateBoundKind, tokens: number }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'RequestRefusedError', param: string | null, reason: string, status: number, code: string, message: string }
   };

export type ListEntriesQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  filter?: LedgerFilter | null | undefined;
  first?: number | null | undefined;
  orderBy?: LedgerOrder | null | undefined;
}>;


export type ListEntriesQuery = { account: { ledger: { edges: Array<{ cursor: string, node: { charged: UsdAmount, cost: UsdAmount, createdAt: string, freeAfter: UsdAmount, id: string, latencyMs: number, model: string, outcome: RequestOutcome | null, protocol: Protocol | null, requestId: string, stream: boolean, timeToFirstByteMs: number | null, usageSource: UsageSource | null, attribution: { session: string | null, tags: Array<string>, user: string | null } | null, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } | null, operator: { margin: UsdAmount | null, upstream: string | null, upstreamCost: UsdAmount | null } | null, lines: Array<{ amount: UsdAmount, model: string, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }> }>, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }>, clock: { pricedAt: string, window: { weekdays: Array<Weekday>, period: string, timeZone: string } | null } | null, variant: { asked: string, counted: string | null, served: string | null } | null, tier: { abovePromptTokens: number | null, upToPromptTokens: number | null } | null, units: Array<{ amount: UsdAmount, count: number, price: UsdAmount, chargedUnit: ChargedUnit | null }>, usage: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type EntryQueryVariables = Exact<{
  accountId?: string | null | undefined;
  requestId: string;
}>;


export type EntryQuery = { account: { ledgerEntry: { charged: UsdAmount, cost: UsdAmount, createdAt: string, freeAfter: UsdAmount, id: string, latencyMs: number, model: string, outcome: RequestOutcome | null, protocol: Protocol | null, requestId: string, stream: boolean, timeToFirstByteMs: number | null, usageSource: UsageSource | null, attribution: { session: string | null, tags: Array<string>, user: string | null } | null, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } | null, operator: { margin: UsdAmount | null, upstream: string | null, upstreamCost: UsdAmount | null } | null, lines: Array<{ amount: UsdAmount, model: string, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }> }>, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }>, clock: { pricedAt: string, window: { weekdays: Array<Weekday>, period: string, timeZone: string } | null } | null, variant: { asked: string, counted: string | null, served: string | null } | null, tier: { abovePromptTokens: number | null, upToPromptTokens: number | null } | null, units: Array<{ amount: UsdAmount, count: number, price: UsdAmount, chargedUnit: ChargedUnit | null }>, usage: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } } | null } | null };

export type UsageQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  by?: Array<UsageGroup> | UsageGroup | null | undefined;
  first?: number | null | undefined;
  from?: string | null | undefined;
  keyId?: string | null | undefined;
  model?: string | null | undefined;
  most?: number | null | undefined;
  order?: UsageOrder | null | undefined;
  outcomes?: Array<RequestOutcome> | RequestOutcome | null | undefined;
  period?: UsagePeriod | null | undefined;
  timeZone?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type UsageQuery = { account: { usage: { nodes: Array<{ charged: UsdAmount, cost: UsdAmount, failures: string, isRest: boolean, model: string | null, outcome: RequestOutcome | null, requests: string, start: string | null, key: { deletedAt: string | null, id: string, last4: string, name: string } | null, maker: { memberId: string, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, tokens: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type LatencyQueryVariables = Exact<{
  accountId?: string | null | undefined;
  from: string;
  keyId?: string | null | undefined;
  model?: string | null | undefined;
  period: HourOrDay;
  timeZone?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type LatencyQuery = { account: { latency: Array<{ firstByteP50Ms: number | null, firstByteP95Ms: number | null, latencyP50Ms: number, latencyP95Ms: number, requests: number, start: string }> } | null };

export type AttributedUsageQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  by: AttributionKind;
  byModel?: boolean | null | undefined;
  first?: number | null | undefined;
  from?: string | null | undefined;
  model?: string | null | undefined;
  only?: string | null | undefined;
  order?: UsageOrder | null | undefined;
  to?: string | null | undefined;
}>;


export type AttributedUsageQuery = { account: { attributedUsage: { nodes: Array<{ charged: UsdAmount, cost: UsdAmount, firstAt: string, label: string, lastAt: string, model: string | null, requests: string, tokens: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type BudgetQueryVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type BudgetQuery = { account: { budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } } | null };

export type CacheSavingsQueryVariables = Exact<{
  accountId?: string | null | undefined;
  from: string;
}>;


export type CacheSavingsQuery = { account: { cacheSavings: UsdAmount | null } | null };

export type CreateLedgerDownloadMutationVariables = Exact<{
  accountId?: string | null | undefined;
  filter?: LedgerFilter | null | undefined;
}>;


export type CreateLedgerDownloadMutation = { createLedgerDownload:
    | { __typename: 'Download', expiresAt: string, url: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type BudgetChangedSubscriptionVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type BudgetChangedSubscription = { budgetChanged: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } };

export type LedgerAppendedSubscriptionVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type LedgerAppendedSubscription = { ledgerAppended: { charged: UsdAmount, cost: UsdAmount, createdAt: string, freeAfter: UsdAmount, id: string, latencyMs: number, model: string, outcome: RequestOutcome | null, protocol: Protocol | null, requestId: string, stream: boolean, timeToFirstByteMs: number | null, usageSource: UsageSource | null, attribution: { session: string | null, tags: Array<string>, user: string | null } | null, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } | null, operator: { margin: UsdAmount | null, upstream: string | null, upstreamCost: UsdAmount | null } | null, lines: Array<{ amount: UsdAmount, model: string, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }> }>, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }>, clock: { pricedAt: string, window: { weekdays: Array<Weekday>, period: string, timeZone: string } | null } | null, variant: { asked: string, counted: string | null, served: string | null } | null, tier: { abovePromptTokens: number | null, upToPromptTokens: number | null } | null, units: Array<{ amount: UsdAmount, count: number, price: UsdAmount, chargedUnit: ChargedUnit | null }>, usage: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } } };

export type ArchivedMonthsQueryVariables = Exact<{
  accountId?: string | null | undefined;
  from?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type ArchivedMonthsQuery = { account: { archivedMonths: Array<{ archivedAt: string, from: string, inDownloads: boolean, month: string, to: string }> } | null };

export type ListBatchesQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListBatchesQuery = { account: { batches: { edges: Array<{ cursor: string, node: { bound: UsdAmount, cancelAt: string | null, canceled: number, charged: UsdAmount | null, createdAt: string, endedAt: string | null, endpoint: string, errored: number, expired: number, expiresAt: string | null, form: BatchForm | null, held: UsdAmount, id: string, lines: number, models: Array<string>, name: string, settledAt: string | null, state: BatchState | null, succeeded: number, key: { id: string, name: string } | null } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type FindBatchQueryVariables = Exact<{
  id: string;
}>;


export type FindBatchQuery = { node:
    | { __typename: 'AccessToken' }
    | { __typename: 'Account' }
    | { __typename: 'ApiKey' }
    | { __typename: 'BankTransfer' }
    | { __typename: 'Batch', bound: UsdAmount, cancelAt: string | null, canceled: number, charged: UsdAmount | null, createdAt: string, endedAt: string | null, endpoint: string, errored: number, expired: number, expiresAt: string | null, form: BatchForm | null, held: UsdAmount, id: string, lines: number, models: Array<string>, name: string, settledAt: string | null, state: BatchState | null, succeeded: number, key: { id: string, name: string } | null }
    | { __typename: 'CatalogEntry' }
    | { __typename: 'LedgerEntry' }
    | { __typename: 'Model' }
    | { __typename: 'Order' }
    | { __typename: 'Plan' }
    | { __typename: 'Project' }
    | { __typename: 'Route' }
    | { __typename: 'Upstream' }
    | { __typename: 'User' }
    | { __typename: 'WebhookEndpoint' }
   | null };

export type CancelBatchMutationVariables = Exact<{
  id: string;
}>;


export type CancelBatchMutation = { cancelBatch:
    | { __typename: 'Batch', bound: UsdAmount, cancelAt: string | null, canceled: number, charged: UsdAmount | null, createdAt: string, endedAt: string | null, endpoint: string, errored: number, expired: number, expiresAt: string | null, form: BatchForm | null, held: UsdAmount, id: string, lines: number, models: Array<string>, name: string, settledAt: string | null, state: BatchState | null, succeeded: number, key: { id: string, name: string } | null }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type MachineLoginQueryVariables = Exact<{
  code: string;
}>;


export type MachineLoginQuery = { machineLogin:
    | { __typename: 'MachineLogin', askedAt: string, expiresAt: string, ipAddress: string, machine: string, sameNetwork: boolean }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ApproveMachineLoginMutationVariables = Exact<{
  input: ApproveMachineLoginInput;
}>;


export type ApproveMachineLoginMutation = { approveMachineLogin:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type DenyMachineLoginMutationVariables = Exact<{
  code: string;
}>;


export type DenyMachineLoginMutation = { denyMachineLogin:
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type AccountForOperatorQueryVariables = Exact<{
  id: string;
}>;


export type AccountForOperatorQuery = { operator: { account: { createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } } | null } };

export type ListAccountsQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  search?: string | null | undefined;
  status?: AccountStatus | null | undefined;
}>;


export type ListAccountsQuery = { operator: { accounts: { edges: Array<{ cursor: string, node: { createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type ListAnomaliesQueryVariables = Exact<{
  after?: string | null | undefined;
  days?: number | null | undefined;
  first?: number | null | undefined;
}>;


export type ListAnomaliesQuery = { operator: { anomalies: { nodes: Array<{ cost: UsdAmount, createdAt: string, model: string, outcome: RequestOutcome | null, requestId: string, usageSource: UsageSource | null, operator: { upstream: string | null, account: { id: string, name: string } | null } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type ListModelMismatchesQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  open?: boolean | null | undefined;
}>;


export type ListModelMismatchesQuery = { operator: { modelMismatches: { nodes: Array<{ asked: string, closedAt: string | null, closedBy: string | null, count: string, firstSeenAt: string, id: string, lastRequestId: string, lastSeenAt: string, model: string, reported: string, upstream: string }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type CloseModelMismatchMutationVariables = Exact<{
  id: string;
}>;


export type CloseModelMismatchMutation = { closeModelMismatch:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'ModelMismatch', asked: string, closedAt: string | null, closedBy: string | null, count: string, firstSeenAt: string, id: string, lastRequestId: string, lastSeenAt: string, model: string, reported: string, upstream: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type AuditLogQueryVariables = Exact<{
  actions?: Array<string> | string | null | undefined;
  actor?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
  from?: string | null | undefined;
  subject?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type AuditLogQuery = { operator: { auditLog: { edges: Array<{ cursor: string, node: { action: string, actor: string, actorName: string | null, after: unknown, before: unknown, createdAt: string, id: string, subject: string, account: { id: string, name: string } | null } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type HoldsQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type HoldsQuery = { operator: { holds: { nodes: Array<{ amount: UsdAmount, heldAt: string, requestId: string, account: { email: string, id: string, name: string } | null, key: { id: string, name: string } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type InvariantsQueryVariables = Exact<{
  accountId: string;
}>;


export type InvariantsQuery = { operator: { invariants: Array<{ invariant: string, rows: unknown }> } };

export type CatalogQueryVariables = Exact<{ [key: string]: never; }>;


export type CatalogQuery = { operator: { models: Array<{ allow: Array<string>, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, reasoningTokensPerSecond: number | null, onUnknownMembers: UnknownMembers | null, contextWindow: number, createdAt: string, displayName: string, enabled: boolean, family: string, id: string, kind: ModelKind | null, maxOutputTokens: number, modelId: string, priceVersions: Array<{ createdAt: string, id: string, maxPromptTokens: number | null, validFrom: string, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }> } };

export type VendorProfilesQueryVariables = Exact<{ [key: string]: never; }>;


export type VendorProfilesQuery = { operator: { vendorProfiles: Array<{ displayName: string, keyVariable: string | null, profile: string, endpoints: Array<{ baseUrl: string | null, protocol: Protocol, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null } }>, quirks: Array<{ source: string, what: string }> }> } };

export type UpstreamsQueryVariables = Exact<{ [key: string]: never; }>;


export type UpstreamsQuery = { operator: { upstreams: Array<{ baseUrl: string, country: string | null, enabled: boolean, id: string, onDisconnect: OnDisconnect, profile: string | null, protocol: Protocol | null, recipient: string | null, simulated: boolean, upstreamId: string, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null }, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null, keys: Array<{ createdAt: string, enabled: boolean, id: string, last4: string }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }> } };

export type GiveGrantMutationVariables = Exact<{
  input: GiveGrantInput;
}>;


export type GiveGrantMutation = { giveGrant:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'GrantGiven', givenBefore: boolean, grant: { amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type EndGrantMutationVariables = Exact<{
  input: EndGrantInput;
}>;


export type EndGrantMutation = { endGrant:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'GrantEnded', held: UsdAmount, taken: UsdAmount, grant: { amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type OpenAccountMutationVariables = Exact<{
  input: OpenAccountInput;
}>;


export type OpenAccountMutation = { openAccount:
    | { __typename: 'Account', createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type VendorsQueryVariables = Exact<{ [key: string]: never; }>;


export type VendorsQuery = { operator: { vendors: Array<{ keys: Array<string>, name: string, source: string, sourceDate: string, vendorId: string, models: Array<{ contextWindow: number, displayName: string, maxOutputTokens: number, modelId: string, routeId: string | null, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }> }> } };

export type SetupQueryVariables = Exact<{ [key: string]: never; }>;


export type SetupQuery = { operator: { setup: Array<{ done: boolean, step: SetupStep }> } };

export type TestVendorKeyMutationVariables = Exact<{
  secret: string;
  vendorId: string;
}>;


export type TestVendorKeyMutation = { testVendorKey:
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'RouteTest', latencyMs: number, ok: boolean, problem: string | null, status: number | null }
   };

export type AddVendorMutationVariables = Exact<{
  input: AddVendorInput;
}>;


export type AddVendorMutation = { addVendor:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Vendor', keys: Array<string>, name: string, source: string, sourceDate: string, vendorId: string, models: Array<{ contextWindow: number, displayName: string, maxOutputTokens: number, modelId: string, routeId: string | null, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }> }
   };

export type DiscoverVendorMutationVariables = Exact<{
  input: DiscoverVendorInput;
}>;


export type DiscoverVendorMutation = { discoverVendor:
    | { __typename: 'FoundVendor', baseUrl: string, profile: string | null, protocol: Protocol, upstreamId: string, models: Array<{ capabilities: Array<ModelCapability>, contextWindow: number, displayName: string, efforts: Array<ReasoningEffort>, family: string, kind: ModelKind, limitsKnown: boolean, maxOutputTokens: number, modelId: string, upstreamModel: string, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null }> }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type AddUpstreamModelsMutationVariables = Exact<{
  input: AddUpstreamModelsInput;
}>;


export type AddUpstreamModelsMutation = { addUpstreamModels:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Upstream', baseUrl: string, country: string | null, enabled: boolean, id: string, onDisconnect: OnDisconnect, profile: string | null, protocol: Protocol | null, recipient: string | null, simulated: boolean, upstreamId: string, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null }, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null, keys: Array<{ createdAt: string, enabled: boolean, id: string, last4: string }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
   };

export type SettingsOfGroupFragment = { group: SettingGroup, hasTest: boolean, webhookAddress: string | null, lastTransfer: { amountVnd: VndAmount, createdAt: string, memo: string, review: { closedAt: string | null, reason: TransferReviewReason | null } | null } | null, refusals: Array<{ at: string, reason: WebhookRefusalReason | null }>, settings: Array<{ choices: Array<string>, fallback: string | null, kind: SettingKind, name: string, required: boolean, shown: string | null, source: SettingSource }> };

export type FailuresQueryVariables = Exact<{
  from: string;
  period: UsagePeriod;
  timeZone?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type FailuresQuery = { operator: { failures: Array<{ failures: string, outcome: RequestOutcome | null, start: string | null }> } };

export type OperatorSettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorSettingsQuery = { operator: { settings: Array<{ group: SettingGroup, hasTest: boolean, webhookAddress: string | null, lastTransfer: { amountVnd: VndAmount, createdAt: string, memo: string, review: { closedAt: string | null, reason: TransferReviewReason | null } | null } | null, refusals: Array<{ at: string, reason: WebhookRefusalReason | null }>, settings: Array<{ choices: Array<string>, fallback: string | null, kind: SettingKind, name: string, required: boolean, shown: string | null, source: SettingSource }> }> } };

export type SaveSettingsMutationVariables = Exact<{
  input: SaveSettingsInput;
}>;


export type SaveSettingsMutation = { saveSettings:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'SettingsOfGroup', group: SettingGroup, hasTest: boolean, webhookAddress: string | null, lastTransfer: { amountVnd: VndAmount, createdAt: string, memo: string, review: { closedAt: string | null, reason: TransferReviewReason | null } | null } | null, refusals: Array<{ at: string, reason: WebhookRefusalReason | null }>, settings: Array<{ choices: Array<string>, fallback: string | null, kind: SettingKind, name: string, required: boolean, shown: string | null, source: SettingSource }> }
   };

export type TestSettingsMutationVariables = Exact<{
  input: TestSettingsInput;
}>;


export type TestSettingsMutation = { testSettings:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'SettingsTest', ok: boolean, finding: SettingsFinding, detail: string | null, problem: string | null }
   };

export type ListOperatorsQueryVariables = Exact<{ [key: string]: never; }>;


export type ListOperatorsQuery = { operator: { operators: Array<{ email: string, id: string, name: string, operatorRole: OperatorRole | null, secondFactor: boolean }> } };

export type SetOperatorMutationVariables = Exact<{
  email: string;
  operator: boolean;
  role?: OperatorRole | null | undefined;
}>;


export type SetOperatorMutation = { setOperator:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'User', id: string, email: string, name: string }
   };

export type TimelineQueryVariables = Exact<{
  accountId: string;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type TimelineQuery = { operator: { timeline: { nodes: Array<{ actor: string | null, actorName: string | null, at: string, kind: TimelineKind, subject: string, text: string | null, usd: UsdAmount | null, vnd: VndAmount | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type AddAccountNoteMutationVariables = Exact<{
  accountId: string;
  text: string;
}>;


export type AddAccountNoteMutation = { addAccountNote:
    | { __typename: 'Account', id: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type RevokeKeyMutationVariables = Exact<{
  id: string;
  reason: string;
}>;


export type RevokeKeyMutation = { revokeKey:
    | { __typename: 'ApiKey', addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SetAccountStatusMutationVariables = Exact<{
  accountId: string;
  reason?: string | null | undefined;
  status: AccountStatus;
}>;


export type SetAccountStatusMutation = { setAccountStatus:
    | { __typename: 'Account', createdAt: string, email: string, id: string, name: string, status: AccountStatus | null, budget: { charged: UsdAmount, expired: UsdAmount, free: UsdAmount, granted: UsdAmount, held: UsdAmount, grants: Array<{ amount: UsdAmount, createdAt: string, expired: UsdAmount, expiresAt: string | null, free: UsdAmount, held: UsdAmount, id: string, kind: GrantKind | null, reason: string | null, spent: UsdAmount }> } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SaveModelMutationVariables = Exact<{
  input: SaveModelInput;
}>;


export type SaveModelMutation = { saveModel:
    | { __typename: 'CatalogEntry', allow: Array<string>, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, reasoningTokensPerSecond: number | null, onUnknownMembers: UnknownMembers | null, contextWindow: number, createdAt: string, displayName: string, enabled: boolean, family: string, id: string, kind: ModelKind | null, maxOutputTokens: number, modelId: string, priceVersions: Array<{ createdAt: string, id: string, maxPromptTokens: number | null, validFrom: string, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SetModelEnabledMutationVariables = Exact<{
  enabled: boolean;
  modelId: string;
}>;


export type SetModelEnabledMutation = { setModelEnabled:
    | { __typename: 'CatalogEntry', allow: Array<string>, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, reasoningTokensPerSecond: number | null, onUnknownMembers: UnknownMembers | null, contextWindow: number, createdAt: string, displayName: string, enabled: boolean, family: string, id: string, kind: ModelKind | null, maxOutputTokens: number, modelId: string, priceVersions: Array<{ createdAt: string, id: string, maxPromptTokens: number | null, validFrom: string, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SavePricesMutationVariables = Exact<{
  input: SavePricesInput;
}>;


export type SavePricesMutation = { savePrices:
    | { __typename: 'CatalogEntry', allow: Array<string>, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, reasoningTokensPerSecond: number | null, onUnknownMembers: UnknownMembers | null, contextWindow: number, createdAt: string, displayName: string, enabled: boolean, family: string, id: string, kind: ModelKind | null, maxOutputTokens: number, modelId: string, priceVersions: Array<{ createdAt: string, id: string, maxPromptTokens: number | null, validFrom: string, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SetRoutesMutationVariables = Exact<{
  modelId: string;
  routes: Array<RouteInput> | RouteInput;
}>;


export type SetRoutesMutation = { setRoutes:
    | { __typename: 'CatalogEntry', allow: Array<string>, capabilities: Array<string>, modelCapabilities: Array<ModelCapability>, reasoningEfforts: Array<ReasoningEffort>, reasoningTokensPerSecond: number | null, onUnknownMembers: UnknownMembers | null, contextWindow: number, createdAt: string, displayName: string, enabled: boolean, family: string, id: string, kind: ModelKind | null, maxOutputTokens: number, modelId: string, priceVersions: Array<{ createdAt: string, id: string, maxPromptTokens: number | null, validFrom: string, prices: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type TestRouteMutationVariables = Exact<{
  id: string;
}>;


export type TestRouteMutation = { testRoute:
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'RouteTest', latencyMs: number, ok: boolean, problem: string | null, status: number | null }
   };

export type SaveUpstreamMutationVariables = Exact<{
  input: SaveUpstreamInput;
}>;


export type SaveUpstreamMutation = { saveUpstream:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Upstream', baseUrl: string, country: string | null, enabled: boolean, id: string, onDisconnect: OnDisconnect, profile: string | null, protocol: Protocol | null, recipient: string | null, simulated: boolean, upstreamId: string, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null }, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null, keys: Array<{ createdAt: string, enabled: boolean, id: string, last4: string }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
   };

export type SetUpstreamEnabledMutationVariables = Exact<{
  enabled: boolean;
  upstreamId: string;
}>;


export type SetUpstreamEnabledMutation = { setUpstreamEnabled:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Upstream', baseUrl: string, country: string | null, enabled: boolean, id: string, onDisconnect: OnDisconnect, profile: string | null, protocol: Protocol | null, recipient: string | null, simulated: boolean, upstreamId: string, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null }, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null, keys: Array<{ createdAt: string, enabled: boolean, id: string, last4: string }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
   };

export type AddUpstreamKeyMutationVariables = Exact<{
  secret: string;
  upstreamId: string;
}>;


export type AddUpstreamKeyMutation = { addUpstreamKey:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Upstream', baseUrl: string, country: string | null, enabled: boolean, id: string, onDisconnect: OnDisconnect, profile: string | null, protocol: Protocol | null, recipient: string | null, simulated: boolean, upstreamId: string, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null }, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null, keys: Array<{ createdAt: string, enabled: boolean, id: string, last4: string }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
   };

export type DeleteUpstreamKeyMutationVariables = Exact<{
  keyId: string;
  upstreamId: string;
}>;


export type DeleteUpstreamKeyMutation = { deleteUpstreamKey:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Upstream', baseUrl: string, country: string | null, enabled: boolean, id: string, onDisconnect: OnDisconnect, profile: string | null, protocol: Protocol | null, recipient: string | null, simulated: boolean, upstreamId: string, features: { cachedTokens: CachedTokensPlace | null, callSignatures: boolean | null, effort: EffortSupport | null, endUser: boolean | null, files: boolean | null, webSocket: boolean | null, hostedTools: boolean | null, imageUrls: boolean | null, jsonObject: boolean | null, jsonSchema: boolean | null, maxTokensField: MaxTokensField | null, minOutputTokens: number | null, parallelCalls: boolean | null, reasoningHistory: boolean | null, sampling: boolean | null, shortCallIds: boolean | null, stop: boolean | null, store: boolean | null, systemRole: SystemRole | null, thinkingSwitch: boolean | null, toolChoice: ToolChoiceSupport | null, traceContext: boolean | null, usageOption: boolean | null }, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null, keys: Array<{ createdAt: string, enabled: boolean, id: string, last4: string }>, routes: Array<{ enabled: boolean, id: string, priority: number, upstreamModel: string, weight: number, costs: { cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount, clock: { exceptDates: Array<string>, timeZone: string, windows: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, weekdays: Array<Weekday>, hours: Array<string>, input: UsdAmount, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, images: { tokens: { input: UsdAmount, cacheHit: UsdAmount, output: UsdAmount } | null, each: Array<{ quality: string | null, size: string | null, upToPixels: number | null, price: UsdAmount }> } | null, perUnit: { image: UsdAmount | null, minute: UsdAmount | null, search: UsdAmount | null }, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }>, variants: Array<{ cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, name: string, output: UsdAmount, tiers: Array<{ abovePromptTokens: number, cacheHit: UsdAmount, cacheWrite1h: UsdAmount, cacheWrite5m: UsdAmount, input: UsdAmount, output: UsdAmount }> }> } | null, entry: { displayName: string, id: string, modelId: string }, upstream: { id: string, protocol: Protocol | null, simulated: boolean, upstreamId: string } }> }
   };

export type SearchOrdersQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  memo?: string | null | undefined;
  search?: string | null | undefined;
  status?: OrderStatus | null | undefined;
}>;


export type SearchOrdersQuery = { operator: { orders: { totalCount: number, edges: Array<{ cursor: string, node: { bonus: UsdAmount, budget: UsdAmount, createdAt: string, expiresAt: string, freeAmount: boolean, giftTo: string | null, id: string, memo: string, paidAt: string | null, planName: string, priceVnd: VndAmount, receiptUrl: string | null, receivedVnd: VndAmount, status: OrderStatus | null, validDays: number | null, account: { email: string, id: string, name: string }, creditNotes: Array<{ amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }>, invoice: { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null } | null, payment: { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } } | null, payments: Array<{ amountVnd: VndAmount, bankReference: string | null, bookedAt: string }>, plan: { planId: string }, upgradedOrder: { id: string } | null } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type ListAllPlansQueryVariables = Exact<{ [key: string]: never; }>;


export type ListAllPlansQuery = { operator: { plans: Array<{ budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount }> } };

export type ListBankTransfersQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  queue?: boolean | null | undefined;
  search?: string | null | undefined;
}>;


export type ListBankTransfersQuery = { operator: { bankTransfers: { totalCount: number, edges: Array<{ cursor: string, node: { amountVnd: VndAmount, bankReference: string | null, bookedAt: string, createdAt: string, direction: TransferDirection | null, id: string, matchedBy: string | null, matchedByName: string | null, memo: string, source: TransferSource | null, providerId: string, order: { id: string, memo: string } | null, review: { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null } | null } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type FindOrdersToMatchQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  search?: string | null | undefined;
  status?: OrderStatus | null | undefined;
}>;


export type FindOrdersToMatchQuery = { operator: { orders: { totalCount: number, edges: Array<{ cursor: string, node: { bonus: UsdAmount, budget: UsdAmount, createdAt: string, id: string, memo: string, planName: string, priceVnd: VndAmount, receivedVnd: VndAmount, status: OrderStatus | null, account: { email: string, id: string, name: string } } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type TransferProposalsQueryVariables = Exact<{
  transferId: string;
}>;


export type TransferProposalsQuery = { node:
    | { __typename: 'AccessToken' }
    | { __typename: 'Account' }
    | { __typename: 'ApiKey' }
    | { __typename: 'BankTransfer', id: string, proposals: Array<{ differences: number, reason: TransferProposalReason, order: { bonus: UsdAmount, budget: UsdAmount, createdAt: string, id: string, memo: string, planName: string, priceVnd: VndAmount, receivedVnd: VndAmount, status: OrderStatus | null, account: { email: string, id: string, name: string } } }> }
    | { __typename: 'Batch' }
    | { __typename: 'CatalogEntry' }
    | { __typename: 'LedgerEntry' }
    | { __typename: 'Model' }
    | { __typename: 'Order' }
    | { __typename: 'Plan' }
    | { __typename: 'Project' }
    | { __typename: 'Route' }
    | { __typename: 'Upstream' }
    | { __typename: 'User' }
    | { __typename: 'WebhookEndpoint' }
   | null };

export type UndoTransferMatchMutationVariables = Exact<{
  transferId: string;
}>;


export type UndoTransferMatchMutation = { undoTransferMatch:
    | { __typename: 'BankTransfer', amountVnd: VndAmount, bankReference: string | null, bookedAt: string, createdAt: string, direction: TransferDirection | null, id: string, matchedBy: string | null, matchedByName: string | null, memo: string, source: TransferSource | null, providerId: string, order: { id: string, memo: string } | null, review: { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null } | null }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type CreditTransferMutationVariables = Exact<{
  accountId: string;
  planId: string;
  transferId: string;
}>;


export type CreditTransferMutation = { creditTransfer:
    | { __typename: 'BankTransfer', amountVnd: VndAmount, bankReference: string | null, bookedAt: string, createdAt: string, direction: TransferDirection | null, id: string, matchedBy: string | null, matchedByName: string | null, memo: string, source: TransferSource | null, providerId: string, order: { id: string, memo: string } | null, review: { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null } | null }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type MatchTransferMutationVariables = Exact<{
  orderId: string;
  transferId: string;
}>;


export type MatchTransferMutation = { matchTransfer:
    | { __typename: 'BankTransfer', amountVnd: VndAmount, bankReference: string | null, bookedAt: string, createdAt: string, direction: TransferDirection | null, id: string, matchedBy: string | null, matchedByName: string | null, memo: string, source: TransferSource | null, providerId: string, order: { id: string, memo: string } | null, review: { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null } | null }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type RecordTransferMutationVariables = Exact<{
  input: RecordTransferInput;
}>;


export type RecordTransferMutation = { recordTransfer:
    | { __typename: 'BankTransfer', amountVnd: VndAmount, bankReference: string | null, bookedAt: string, createdAt: string, direction: TransferDirection | null, id: string, matchedBy: string | null, matchedByName: string | null, memo: string, source: TransferSource | null, providerId: string, order: { id: string, memo: string } | null, review: { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type CloseTransferReviewMutationVariables = Exact<{
  note: string;
  transferId: string;
}>;


export type CloseTransferReviewMutation = { closeTransferReview:
    | { __typename: 'BankTransfer', amountVnd: VndAmount, bankReference: string | null, bookedAt: string, createdAt: string, direction: TransferDirection | null, id: string, matchedBy: string | null, matchedByName: string | null, memo: string, source: TransferSource | null, providerId: string, order: { id: string, memo: string } | null, review: { closedAt: string | null, closedBy: string | null, note: string | null, reason: TransferReviewReason | null, surplusVnd: VndAmount | null, order: { id: string, memo: string } | null, repeats: { id: string } | null } | null }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SavePlanMutationVariables = Exact<{
  input: SavePlanInput;
}>;


export type SavePlanMutation = { savePlan:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'Plan', budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount }
   };

export type ProbingQueryVariables = Exact<{ [key: string]: never; }>;


export type ProbingQuery = { operator: { probeAgents: Array<{ createdAt: string, id: string, last4: string, lastSeenAt: string | null, measuredAt: string | null, name: string, region: string, revokedAt: string | null }>, probing: { everyMinutes: number, monthlyBudget: UsdAmount, observers: number, serviceProbes: boolean, spentThisMonth: UsdAmount, models: Array<{ askedMinutes: number, askedMonthlyCost: UsdAmount, effectiveMinutes: number, everyMinutes: number | null, measured: boolean, modelId: string, monthlyBudget: UsdAmount | null, monthlyCost: UsdAmount, monthlyUpstreamCost: UsdAmount | null }> } } };

export type CreateProbeAgentMutationVariables = Exact<{
  input: CreateProbeAgentInput;
}>;


export type CreateProbeAgentMutation = { createProbeAgent:
    | { __typename: 'CreatedProbeAgent', token: string, probeAgent: { createdAt: string, id: string, last4: string, lastSeenAt: string | null, measuredAt: string | null, name: string, region: string, revokedAt: string | null } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type RevokeProbeAgentMutationVariables = Exact<{
  id: string;
  keepResults?: boolean | null | undefined;
}>;


export type RevokeProbeAgentMutation = { revokeProbeAgent:
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'ProbeAgent', createdAt: string, id: string, last4: string, lastSeenAt: string | null, measuredAt: string | null, name: string, region: string, revokedAt: string | null }
   };

export type SaveProbingMutationVariables = Exact<{
  input: SaveProbingInput;
}>;


export type SaveProbingMutation = { saveProbing:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Probing', everyMinutes: number, monthlyBudget: UsdAmount, observers: number, serviceProbes: boolean, spentThisMonth: UsdAmount, models: Array<{ askedMinutes: number, askedMonthlyCost: UsdAmount, effectiveMinutes: number, everyMinutes: number | null, measured: boolean, modelId: string, monthlyBudget: UsdAmount | null, monthlyCost: UsdAmount, monthlyUpstreamCost: UsdAmount | null }> }
   };

export type AddStatusUpdateMutationVariables = Exact<{
  input: AddStatusUpdateInput;
}>;


export type AddStatusUpdateMutation = { addStatusUpdate:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'StatusUpdate', body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }
   };

export type AnnounceMutationVariables = Exact<{
  input: AnnounceInput;
}>;


export type AnnounceMutation = { announce:
    | { __typename: 'Announcement', body: string, bodyVi: string | null, endsAt: string | null, id: string, kind: AnnouncementKind | null, modelIds: Array<string>, startsAt: string, title: string, titleVi: string | null, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type EndAnnouncementMutationVariables = Exact<{
  id: string;
  endsAt?: string | null | undefined;
}>;


export type EndAnnouncementMutation = { endAnnouncement:
    | { __typename: 'Announcement', body: string, bodyVi: string | null, endsAt: string | null, id: string, kind: AnnouncementKind | null, modelIds: Array<string>, startsAt: string, title: string, titleVi: string | null, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type AccountMembersQueryVariables = Exact<{
  id: string;
}>;


export type AccountMembersQuery = { operator: { account: { members: Array<{ createdAt: string, email: string, id: string, name: string, role: Role | null }> } | null } };

export type AccountLimitsForOperatorQueryVariables = Exact<{
  id: string;
}>;


export type AccountLimitsForOperatorQuery = { operator: { account: { limits: { addresses: Array<string>, maxConcurrent: number | null, requestsPerMinute: number | null, tokensPerMinute: number | null, timeZone: string, spend: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, spent: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } | null } } | null } };

export type AccountUsageQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  from?: string | null | undefined;
  id: string;
  timeZone?: string | null | undefined;
}>;


export type AccountUsageQuery = { operator: { account: { usage: { nodes: Array<{ charged: UsdAmount, cost: UsdAmount, failures: string, isRest: boolean, model: string | null, outcome: RequestOutcome | null, requests: string, start: string | null, key: { deletedAt: string | null, id: string, last4: string, name: string } | null, maker: { memberId: string, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, tokens: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null } };

export type AccountKeysQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  id: string;
  search?: string | null | undefined;
}>;


export type AccountKeysQuery = { operator: { account: { keys: { edges: Array<{ cursor: string, node: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null } };

export type AccountOrdersQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  id: string;
}>;


export type AccountOrdersQuery = { operator: { account: { orders: { edges: Array<{ cursor: string, node: { budget: UsdAmount, createdAt: string, id: string, memo: string, planName: string, priceVnd: VndAmount, status: OrderStatus | null } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null } };

export type AccountEntriesQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: LedgerFilter | null | undefined;
  first?: number | null | undefined;
  id: string;
}>;


export type AccountEntriesQuery = { operator: { account: { ledger: { edges: Array<{ cursor: string, node: { charged: UsdAmount, cost: UsdAmount, createdAt: string, freeAfter: UsdAmount, id: string, latencyMs: number, model: string, outcome: RequestOutcome | null, protocol: Protocol | null, requestId: string, stream: boolean, timeToFirstByteMs: number | null, usageSource: UsageSource | null, attribution: { session: string | null, tags: Array<string>, user: string | null } | null, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } | null, operator: { margin: UsdAmount | null, upstream: string | null, upstreamCost: UsdAmount | null } | null, lines: Array<{ amount: UsdAmount, model: string, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }> }>, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }>, clock: { pricedAt: string, window: { weekdays: Array<Weekday>, period: string, timeZone: string } | null } | null, variant: { asked: string, counted: string | null, served: string | null } | null, tier: { abovePromptTokens: number | null, upToPromptTokens: number | null } | null, units: Array<{ amount: UsdAmount, count: number, price: UsdAmount, chargedUnit: ChargedUnit | null }>, usage: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null } };

export type AccountEntryQueryVariables = Exact<{
  id: string;
  requestId: string;
}>;


export type AccountEntryQuery = { operator: { account: { ledgerEntry: { charged: UsdAmount, cost: UsdAmount, createdAt: string, freeAfter: UsdAmount, id: string, latencyMs: number, model: string, outcome: RequestOutcome | null, protocol: Protocol | null, requestId: string, stream: boolean, timeToFirstByteMs: number | null, usageSource: UsageSource | null, attribution: { session: string | null, tags: Array<string>, user: string | null } | null, key: { addresses: Array<string>, maxConcurrent: number | null, tokensPerMinute: number | null, createdAt: string, deletedAt: string | null, expiresAt: string | null, id: string, last4: string, lastUsedAt: string | null, models: Array<string>, name: string, owner: KeyOwner | null, prefix: string, replaces: string | null, requestsPerMinute: number | null, status: KeyStatus, burnLimit: { amount: UsdAmount, minutes: number } | null, limits: { day: UsdAmount | null, lifetime: UsdAmount | null, month: UsdAmount | null, week: UsdAmount | null }, maker: { isMember: boolean, name: string | null } | null, project: { archivedAt: string | null, createdAt: string, id: string, name: string } | null, spend: { held: UsdAmount, lifetime: UsdAmount, thisMonth: UsdAmount, thisWeek: UsdAmount, today: UsdAmount } } | null, operator: { margin: UsdAmount | null, upstream: string | null, upstreamCost: UsdAmount | null } | null, lines: Array<{ amount: UsdAmount, model: string, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }> }>, receipt: Array<{ amount: UsdAmount, tokenPool: TokenPool, pricePerMillion: UsdAmount, tokens: string }>, clock: { pricedAt: string, window: { weekdays: Array<Weekday>, period: string, timeZone: string } | null } | null, variant: { asked: string, counted: string | null, served: string | null } | null, tier: { abovePromptTokens: number | null, upToPromptTokens: number | null } | null, units: Array<{ amount: UsdAmount, count: number, price: UsdAmount, chargedUnit: ChargedUnit | null }>, usage: { cacheHit: string, cacheWrite1h: string, cacheWrite5m: string, input: string, output: string } } | null } | null } };

export type BusinessQueryVariables = Exact<{
  timeZone?: string | null | undefined;
}>;


export type BusinessQuery = { operator: { business: { modelMismatches: number, newAccounts: number, openIncidents: number, vndThisMonth: VndAmount, vndToday: VndAmount, waitingSince: string | null, waitingTransfers: number, failingUpstreams: Array<{ id: string, upstreamId: string, health: { consecutiveFailures: number, ejected: boolean, pausedKeys: number } | null }> } } };

export type SearchQueryVariables = Exact<{
  text: string;
}>;


export type SearchQuery = { operator: { search: Array<{ accountId: string | null, detail: string, id: string, kind: SearchHitKind, title: string }> } };

export type SaveSellerMutationVariables = Exact<{
  input: SellerInput;
}>;


export type SaveSellerMutation = { saveSeller:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'Seller', address: string, name: string, privacyUrl: string, refundUrl: string, supportEmail: string, supportPhone: string, taxCode: string, termsUrl: string }
   };

export type ListBusinessNoticesQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListBusinessNoticesQuery = { operator: { notices: { nodes: Array<{ clearedAt: string | null, createdAt: string, facts: unknown, id: string, kind: NoticeKind | null, mailed: boolean, deliveries: Array<{ channel: string | null, deliveredAt: string | null, held: boolean, nextAttemptAt: string | null, problem: string | null, state: NoticeDeliveryState | null }> }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type BusinessNoticeSettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type BusinessNoticeSettingsQuery = { operator: { noticeSettings: { billDays: number, billPercent: number, mail: boolean, marginPercent: number | null, muted: Array<NoticeKind>, quietFrom: number | null, quietTo: number | null, shortfall: UsdAmount, timeZone: string } } };

export type UpdateBusinessNoticeSettingsMutationVariables = Exact<{
  input: BusinessNoticeSettingsInput;
}>;


export type UpdateBusinessNoticeSettingsMutation = { updateBusinessNoticeSettings:
    | { __typename: 'BusinessNoticeSettings', billDays: number, billPercent: number, mail: boolean, marginPercent: number | null, muted: Array<NoticeKind>, quietFrom: number | null, quietTo: number | null, shortfall: UsdAmount, timeZone: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
   };

export type ListBusinessChannelsQueryVariables = Exact<{ [key: string]: never; }>;


export type ListBusinessChannelsQuery = { operator: { noticeChannels: Array<{ createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }> } };

export type CreateBusinessChannelMutationVariables = Exact<{
  input: CreateNoticeChannelInput;
}>;


export type CreateBusinessChannelMutation = { createBusinessChannel:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'CreatedNoticeChannel', signing: string | null, channel: { createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type UpdateBusinessChannelMutationVariables = Exact<{
  input: UpdateNoticeChannelInput;
}>;


export type UpdateBusinessChannelMutation = { updateBusinessChannel:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'NoticeChannel', createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }
   };

export type DeleteBusinessChannelMutationVariables = Exact<{
  id: string;
}>;


export type DeleteBusinessChannelMutation = { deleteBusinessChannel:
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'NoticeChannel', createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }
   };

export type TestBusinessChannelMutationVariables = Exact<{
  id: string;
}>;


export type TestBusinessChannelMutation = { testBusinessChannel:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'NoticeChannel', createdAt: string, deliveredAt: string | null, enabled: boolean, id: string, kind: NoticeChannelKind | null, kinds: Array<NoticeKind>, language: Language | null, name: string, problem: string | null, target: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type InvoiceProblemsQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type InvoiceProblemsQuery = { operator: { invoiceProblems: { nodes: Array<{ fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null, order: { id: string, memo: string } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type RetryInvoiceMutationVariables = Exact<{
  orderId: string;
}>;


export type RetryInvoiceMutation = { retryInvoice:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'OrderInvoice', fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null }
   };

export type CodeBatchesQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type CodeBatchesQuery = { operator: { codeBatches: { nodes: Array<{ amount: UsdAmount, count: number, createdAt: string, expiresAt: string | null, id: string, name: string, revokedAt: string | null, used: number, uses: number, validDays: number | null, plan: { name: string, planId: string } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } };

export type CodeRedemptionsQueryVariables = Exact<{
  batchId: string;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type CodeRedemptionsQuery = { operator: { codeRedemptions: { nodes: Array<{ last4: string, redeemedAt: string, account: { email: string, id: string, name: string } | null }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } | null } };

export type CreateCodesMutationVariables = Exact<{
  input: CreateCodesInput;
}>;


export type CreateCodesMutation = { createCodes:
    | { __typename: 'CodesCreated', codes: Array<string>, batch: { amount: UsdAmount, count: number, createdAt: string, expiresAt: string | null, id: string, name: string, revokedAt: string | null, used: number, uses: number, validDays: number | null, plan: { name: string, planId: string } | null } }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type RevokeCodesMutationVariables = Exact<{
  batchId: string;
}>;


export type RevokeCodesMutation = { revokeCodes:
    | { __typename: 'CodeBatch', amount: UsdAmount, count: number, createdAt: string, expiresAt: string | null, id: string, name: string, revokedAt: string | null, used: number, uses: number, validDays: number | null, plan: { name: string, planId: string } | null }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type SaveTopUpMutationVariables = Exact<{
  topUp?: TopUpInput | null | undefined;
}>;


export type SaveTopUpMutation = { saveTopUp:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TopUpSaved', bonusSteps: Array<{ basisPoints: number, fromVnd: VndAmount }>, topUp: { maxVnd: VndAmount, minVnd: VndAmount, plan: { budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount } } | null }
   };

export type SaveBonusStepsMutationVariables = Exact<{
  steps: Array<BonusStepInput> | BonusStepInput;
}>;


export type SaveBonusStepsMutation = { saveBonusSteps:
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'TopUpSaved', bonusSteps: Array<{ basisPoints: number, fromVnd: VndAmount }>, topUp: { maxVnd: VndAmount, minVnd: VndAmount, plan: { budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount } } | null }
   };

export type BeginAccountViewMutationVariables = Exact<{
  accountId: string;
}>;


export type BeginAccountViewMutation = { beginAccountView:
    | { __typename: 'AccountViewBegun', grant: string, until: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type ShopQueryVariables = Exact<{ [key: string]: never; }>;


export type ShopQuery = { shop: { open: boolean, demonstration: boolean } };

export type PlansQueryVariables = Exact<{ [key: string]: never; }>;


export type PlansQuery = { plans: Array<{ budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount }> };

export type OrderQueryVariables = Exact<{
  id: string;
}>;


export type OrderQuery = { order: { bonus: UsdAmount, budget: UsdAmount, createdAt: string, expiresAt: string, freeAmount: boolean, giftTo: string | null, id: string, memo: string, paidAt: string | null, planName: string, priceVnd: VndAmount, receiptUrl: string | null, receivedVnd: VndAmount, status: OrderStatus | null, validDays: number | null, account: { email: string, name: string }, creditNotes: Array<{ amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }>, invoice: { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null } | null, payment: { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } } | null, payments: Array<{ amountVnd: VndAmount, bankReference: string | null, bookedAt: string }>, plan: { planId: string }, upgradedOrder: { id: string } | null } | null };

export type ListOrdersQueryVariables = Exact<{
  accountId?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListOrdersQuery = { account: { orders: { totalCount: number, edges: Array<{ cursor: string, node: { bonus: UsdAmount, budget: UsdAmount, createdAt: string, expiresAt: string, freeAmount: boolean, giftTo: string | null, id: string, memo: string, paidAt: string | null, planName: string, priceVnd: VndAmount, receiptUrl: string | null, receivedVnd: VndAmount, status: OrderStatus | null, validDays: number | null, account: { email: string, name: string }, creditNotes: Array<{ amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }>, invoice: { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null } | null, payment: { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } } | null, payments: Array<{ amountVnd: VndAmount, bankReference: string | null, bookedAt: string }>, plan: { planId: string }, upgradedOrder: { id: string } | null } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type CreateOrderMutationVariables = Exact<{
  input: CreateOrderInput;
}>;


export type CreateOrderMutation = { createOrder:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Order', bonus: UsdAmount, budget: UsdAmount, createdAt: string, expiresAt: string, freeAmount: boolean, giftTo: string | null, id: string, memo: string, paidAt: string | null, planName: string, priceVnd: VndAmount, receiptUrl: string | null, receivedVnd: VndAmount, status: OrderStatus | null, validDays: number | null, account: { email: string, name: string }, creditNotes: Array<{ amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }>, invoice: { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null } | null, payment: { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } } | null, payments: Array<{ amountVnd: VndAmount, bankReference: string | null, bookedAt: string }>, plan: { planId: string }, upgradedOrder: { id: string } | null }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type CancelOrderMutationVariables = Exact<{
  id: string;
}>;


export type CancelOrderMutation = { cancelOrder:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Order', bonus: UsdAmount, budget: UsdAmount, createdAt: string, expiresAt: string, freeAmount: boolean, giftTo: string | null, id: string, memo: string, paidAt: string | null, planName: string, priceVnd: VndAmount, receiptUrl: string | null, receivedVnd: VndAmount, status: OrderStatus | null, validDays: number | null, account: { email: string, name: string }, creditNotes: Array<{ amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }>, invoice: { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null } | null, payment: { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } } | null, payments: Array<{ amountVnd: VndAmount, bankReference: string | null, bookedAt: string }>, plan: { planId: string }, upgradedOrder: { id: string } | null }
   };

export type OrderStatusSubscriptionVariables = Exact<{
  id: string;
}>;


export type OrderStatusSubscription = { orderStatus: { bonus: UsdAmount, budget: UsdAmount, createdAt: string, expiresAt: string, freeAmount: boolean, giftTo: string | null, id: string, memo: string, paidAt: string | null, planName: string, priceVnd: VndAmount, receiptUrl: string | null, receivedVnd: VndAmount, status: OrderStatus | null, validDays: number | null, account: { email: string, name: string }, creditNotes: Array<{ amountVnd: VndAmount, bonus: UsdAmount, budget: UsdAmount, issuedAt: string, kind: RefundKind | null, number: string, sentVnd: VndAmount, undoneAt: string | null, url: string }>, invoice: { fileUrl: string | null, issuedAt: string | null, nextAt: string | null, number: string | null, problem: string | null, state: InvoiceState | null, url: string | null } | null, payment: { amountVnd: VndAmount, memo: string, qrPayload: string, qrPng: string, qrSvg: string, bank: { account: string, bank: string, bin: string, name: string, demonstration: boolean } } | null, payments: Array<{ amountVnd: VndAmount, bankReference: string | null, bookedAt: string }>, plan: { planId: string }, upgradedOrder: { id: string } | null } };

export type SellerQueryVariables = Exact<{ [key: string]: never; }>;


export type SellerQuery = { seller: { address: string, name: string, privacyUrl: string, refundUrl: string, supportEmail: string, supportPhone: string, taxCode: string, termsUrl: string } };

export type CompanyQueryVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type CompanyQuery = { account: { id: string, company: { address: string, name: string, taxCode: string } | null } | null };

export type SetCompanyMutationVariables = Exact<{
  accountId: string;
  input?: CompanyInput | null | undefined;
}>;


export type SetCompanyMutation = { setCompany:
    | { __typename: 'Account', id: string, company: { address: string, name: string, taxCode: string } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type StatementsQueryVariables = Exact<{
  accountId?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type StatementsQuery = { account: { id: string, statements: Array<{ charged: UsdAmount, closing: UsdAmount, digest: string | null, expired: UsdAmount, granted: UsdAmount, month: string, opening: UsdAmount, takenBack: UsdAmount, url: string }> } | null };

export type StatementQueryVariables = Exact<{
  accountId?: string | null | undefined;
  month: string;
}>;


export type StatementQuery = { account: { id: string, statement: { charged: UsdAmount, closing: UsdAmount, digest: string | null, expired: UsdAmount, granted: UsdAmount, month: string, opening: UsdAmount, takenBack: UsdAmount, url: string } | null } | null };

export type BonusStepsQueryVariables = Exact<{ [key: string]: never; }>;


export type BonusStepsQuery = { bonusSteps: Array<{ basisPoints: number, fromVnd: VndAmount }> };

export type TopUpQueryVariables = Exact<{ [key: string]: never; }>;


export type TopUpQuery = { topUp: { maxVnd: VndAmount, minVnd: VndAmount, plan: { budget: UsdAmount, id: string, name: string, onSale: boolean, planId: string, priceVnd: VndAmount, validDays: number | null, vndPerUsd: VndAmount } } | null };

export type RedeemCodeMutationVariables = Exact<{
  accountId?: string | null | undefined;
  code: string;
}>;


export type RedeemCodeMutation = { redeemCode:
    | { __typename: 'CodeRedeemed', again: boolean, amount: UsdAmount, grantId: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type MeQueryVariables = Exact<{ [key: string]: never; }>;


export type MeQuery = { me: { scopes: Array<TokenScope>, viewUntil: string | null, accounts: Array<{ id: string, name: string, status: AccountStatus | null }>, operator: { allowedMutations: Array<string>, role: OperatorRole | null } | null, sessions: Array<{ createdAt: string, current: boolean, device: string | null, expiresAt: string, id: string, ipAddress: string | null, lastUsedAt: string, passkey: boolean, userAgent: string | null }>, user: { createdAt: string, email: string, emailVerified: boolean, hasPassword: boolean, id: string, language: Language | null, name: string, operator: boolean, secondFactor: boolean } | null } | null };

export type SignInMethodsQueryVariables = Exact<{ [key: string]: never; }>;


export type SignInMethodsQuery = { signInMethods: { passkeys: boolean, passwords: boolean, providers: Array<{ id: string, name: string }> } };

export type SignUpMutationVariables = Exact<{
  input: SignUpInput;
}>;


export type SignUpMutation = { signUp:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ResendVerificationMutationVariables = Exact<{
  email: string;
}>;


export type ResendVerificationMutation = { resendVerification:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type VerifyEmailMutationVariables = Exact<{
  token: string;
}>;


export type VerifyEmailMutation = { verifyEmail:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidTokenError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type SignInMutationVariables = Exact<{
  email: string;
  password: string;
}>;


export type SignInMutation = { signIn:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'EmailNotVerifiedError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'SignedIn', secondFactorRequired: boolean }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type SignInWithCodeMutationVariables = Exact<{
  backup?: boolean | null | undefined;
  code: string;
}>;


export type SignInWithCodeMutation = { signInWithCode:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'InvalidTokenError', code: string, message: string }
    | { __typename: 'SignedIn', secondFactorRequired: boolean }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type BeginPasskeySignInMutationVariables = Exact<{ [key: string]: never; }>;


export type BeginPasskeySignInMutation = { beginPasskeySignIn:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'PasskeyOptions', json: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type SignInWithPasskeyMutationVariables = Exact<{
  credential: string;
}>;


export type SignInWithPasskeyMutation = { signInWithPasskey:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'SignedIn', secondFactorRequired: boolean }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type SignOutMutationVariables = Exact<{ [key: string]: never; }>;


export type SignOutMutation = { signOut:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
   };

export type RequestPasswordResetMutationVariables = Exact<{
  email: string;
}>;


export type RequestPasswordResetMutation = { requestPasswordReset:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ResetPasswordMutationVariables = Exact<{
  newPassword: string;
  token: string;
}>;


export type ResetPasswordMutation = { resetPassword:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidTokenError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ChangePasswordMutationVariables = Exact<{
  currentPassword: string;
  newPassword: string;
}>;


export type ChangePasswordMutation = { changePassword:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ChangeEmailMutationVariables = Exact<{
  newEmail: string;
  password: string;
}>;


export type ChangeEmailMutation = { changeEmail:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type UpdateProfileMutationVariables = Exact<{
  language?: Language | null | undefined;
  name?: string | null | undefined;
}>;


export type UpdateProfileMutation = { updateProfile:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'User', createdAt: string, email: string, emailVerified: boolean, hasPassword: boolean, id: string, language: Language | null, name: string, operator: boolean, secondFactor: boolean }
   };

export type BeginSecondFactorMutationVariables = Exact<{
  password: string;
}>;


export type BeginSecondFactorMutation = { beginSecondFactor:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'SecondFactorSetup', backupCodes: Array<string>, uri: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ConfirmSecondFactorMutationVariables = Exact<{
  code: string;
}>;


export type ConfirmSecondFactorMutation = { confirmSecondFactor:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type DisableSecondFactorMutationVariables = Exact<{
  code: string;
  password: string;
}>;


export type DisableSecondFactorMutation = { disableSecondFactor:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type RenewBackupCodesMutationVariables = Exact<{
  password: string;
}>;


export type RenewBackupCodesMutation = { renewBackupCodes:
    | { __typename: 'BackupCodes', backupCodes: Array<string> }
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type RevokeSessionMutationVariables = Exact<{
  id: string;
}>;


export type RevokeSessionMutation = { revokeSession:
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'NotFoundError', code: string, message: string }
   };

export type RevokeOtherSessionsMutationVariables = Exact<{ [key: string]: never; }>;


export type RevokeOtherSessionsMutation = { revokeOtherSessions:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'SessionsEnded', count: number }
   };

export type ListPasskeysQueryVariables = Exact<{ [key: string]: never; }>;


export type ListPasskeysQuery = { me: { passkeys: Array<{ backedUp: boolean, createdAt: string, id: string, lastUsedAt: string | null, name: string }> } | null };

export type BeginPasskeyMutationVariables = Exact<{
  code?: string | null | undefined;
  password: string;
}>;


export type BeginPasskeyMutation = { beginPasskey:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'PasskeyOptions', json: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type AddPasskeyMutationVariables = Exact<{
  credential: string;
  name: string;
}>;


export type AddPasskeyMutation = { addPasskey:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidTokenError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'Passkey', backedUp: boolean, createdAt: string, id: string, lastUsedAt: string | null, name: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type RenamePasskeyMutationVariables = Exact<{
  id: string;
  name: string;
}>;


export type RenamePasskeyMutation = { renamePasskey:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'Passkey', backedUp: boolean, createdAt: string, id: string, lastUsedAt: string | null, name: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type RemovePasskeyMutationVariables = Exact<{
  id: string;
  password: string;
}>;


export type RemovePasskeyMutation = { removePasskey:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ListIdentitiesQueryVariables = Exact<{ [key: string]: never; }>;


export type ListIdentitiesQuery = { me: { identities: Array<{ id: string, lastUsedAt: string | null, linkedAt: string, name: string, provider: string }> } | null };

export type RemoveIdentityMutationVariables = Exact<{
  id: string;
  password: string;
}>;


export type RemoveIdentityMutation = { removeIdentity:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidCredentialsError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type RequestIdentityLinkMutationVariables = Exact<{ [key: string]: never; }>;


export type RequestIdentityLinkMutation = { requestIdentityLink:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'Done', id: string | null, ok: boolean, member: { createdAt: string, email: string, id: string, name: string, role: Role | null } | null }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type LinkIdentityMutationVariables = Exact<{
  token: string;
}>;


export type LinkIdentityMutation = { linkIdentity:
    | { __typename: 'BusyError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'InvalidTokenError', code: string, message: string }
    | { __typename: 'SignedIn', secondFactorRequired: boolean }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
   };

export type ServiceStatusQueryVariables = Exact<{ [key: string]: never; }>;


export type ServiceStatusQuery = { status: { generatedAt: string, measuredSince: string | null, state: ServiceState, absences: Array<{ from: string, to: string }>, announcements: Array<{ body: string, bodyVi: string | null, endsAt: string | null, id: string, kind: AnnouncementKind | null, modelIds: Array<string>, startsAt: string, title: string, titleVi: string | null, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }>, incidents: Array<{ cause: IncidentCause | null, endedAt: string | null, id: string, impact: IncidentImpact | null, modelId: string, startedAt: string, affectedWays: Array<{ mode: ProbeMode | null, protocol: Protocol | null }>, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }>, models: Array<{ displayName: string, everyMinutes: number | null, measuredSince: string | null, modelId: string, requestsSucceeded: number | null, simulated: boolean, state: ServiceState, days: Array<{ at: string, uptime: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number } }>, last7Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last24Hours: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last30Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last90Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, requests: Array<{ count: number | null, protocol: Protocol | null, succeeded: number | null }>, ways: Array<{ checkedAt: string, latencyMs: number | null, mode: ProbeMode | null, outcome: ProbeOutcome | null, protocol: Protocol | null, reason: string | null, timeToFirstByteMs: number | null }> }>, observers: Array<{ agent: boolean, measuredAt: string, name: string, region: string }> } };

export type ServiceStateQueryVariables = Exact<{ [key: string]: never; }>;


export type ServiceStateQuery = { status: { generatedAt: string, measuredSince: string | null, state: ServiceState, absences: Array<{ from: string, to: string }>, announcements: Array<{ body: string, bodyVi: string | null, endsAt: string | null, id: string, kind: AnnouncementKind | null, modelIds: Array<string>, startsAt: string, title: string, titleVi: string | null, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }>, incidents: Array<{ cause: IncidentCause | null, endedAt: string | null, id: string, impact: IncidentImpact | null, modelId: string, startedAt: string, affectedWays: Array<{ mode: ProbeMode | null, protocol: Protocol | null }>, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> }>, models: Array<{ displayName: string, everyMinutes: number | null, measuredSince: string | null, modelId: string, requestsSucceeded: number | null, simulated: boolean, state: ServiceState, last7Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last24Hours: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last30Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, last90Days: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number }, requests: Array<{ count: number | null, protocol: Protocol | null, succeeded: number | null }>, ways: Array<{ checkedAt: string, latencyMs: number | null, mode: ProbeMode | null, outcome: ProbeOutcome | null, protocol: Protocol | null, reason: string | null, timeToFirstByteMs: number | null }> }>, observers: Array<{ agent: boolean, measuredAt: string, name: string, region: string }> } };

export type UptimeQueryVariables = Exact<{
  from: string;
  mode?: ProbeMode | null | undefined;
  modelId: string;
  period: HourOrDay;
  protocol?: Protocol | null | undefined;
  to: string;
}>;


export type UptimeQuery = { uptime: Array<{ at: string, uptime: { down: number, latencyMs: number | null, maintenance: number, noData: number, ratio: number | null, up: number } }> };

export type ListIncidentsQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  modelId?: string | null | undefined;
}>;


export type ListIncidentsQuery = { incidents: { edges: Array<{ cursor: string, node: { cause: IncidentCause | null, endedAt: string | null, id: string, impact: IncidentImpact | null, modelId: string, startedAt: string, affectedWays: Array<{ mode: ProbeMode | null, protocol: Protocol | null }>, updates: Array<{ body: string, bodyVi: string | null, createdAt: string, id: string, state: StatusUpdateState | null }> } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } };

export type ListEndpointsQueryVariables = Exact<{
  accountId?: string | null | undefined;
}>;


export type ListEndpointsQuery = { account: { webhookEndpoints: Array<{ createdAt: string, description: string, enabled: boolean, events: Array<WebhookEvent>, id: string, url: string }> } | null };

export type CreateWebhookEndpointMutationVariables = Exact<{
  input: CreateWebhookEndpointInput;
}>;


export type CreateWebhookEndpointMutation = { createWebhookEndpoint:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'WebhookEndpointWithSecret', secret: string, endpoint: { createdAt: string, description: string, enabled: boolean, events: Array<WebhookEvent>, id: string, url: string } }
   };

export type UpdateWebhookEndpointMutationVariables = Exact<{
  input: UpdateWebhookEndpointInput;
}>;


export type UpdateWebhookEndpointMutation = { updateWebhookEndpoint:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'InputError', code: string, message: string, problems: Array<{ message: string, path: Array<string> }> }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'WebhookEndpoint', createdAt: string, description: string, enabled: boolean, events: Array<WebhookEvent>, id: string, url: string }
   };

export type DeleteWebhookEndpointMutationVariables = Exact<{
  id: string;
}>;


export type DeleteWebhookEndpointMutation = { deleteWebhookEndpoint:
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'WebhookEndpoint', createdAt: string, description: string, enabled: boolean, events: Array<WebhookEvent>, id: string, url: string }
   };

export type RotateWebhookSecretMutationVariables = Exact<{
  id: string;
}>;


export type RotateWebhookSecretMutation = { rotateWebhookSecret:
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'WebhookEndpointWithSecret', secret: string, endpoint: { createdAt: string, description: string, enabled: boolean, events: Array<WebhookEvent>, id: string, url: string } }
   };

export type SendTestWebhookMutationVariables = Exact<{
  id: string;
}>;


export type SendTestWebhookMutation = { sendTestWebhook:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'WebhookDelivery', body: string, createdAt: string, deliveredAt: string | null, event: WebhookEvent | null, eventId: string, id: string, nextAttemptAt: string | null, status: WebhookDeliveryStatus | null, attempts: Array<{ createdAt: string, durationMs: number, problem: string | null, status: number | null }> }
   };

export type ReplayWebhookDeliveryMutationVariables = Exact<{
  id: string;
}>;


export type ReplayWebhookDeliveryMutation = { replayWebhookDelivery:
    | { __typename: 'ConflictError', code: string, message: string }
    | { __typename: 'NotAllowedError', code: string, message: string }
    | { __typename: 'NotFoundError', code: string, message: string }
    | { __typename: 'TooManyAttemptsError', retryAfterSeconds: number, code: string, message: string }
    | { __typename: 'WebhookDelivery', body: string, createdAt: string, deliveredAt: string | null, event: WebhookEvent | null, eventId: string, id: string, nextAttemptAt: string | null, status: WebhookDeliveryStatus | null, attempts: Array<{ createdAt: string, durationMs: number, problem: string | null, status: number | null }> }
   };

export type ListDeliveriesQueryVariables = Exact<{
  id: string;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListDeliveriesQuery = { node:
    | { deliveries: { edges: Array<{ cursor: string, node: { body: string, createdAt: string, deliveredAt: string | null, event: WebhookEvent | null, eventId: string, id: string, nextAttemptAt: string | null, status: WebhookDeliveryStatus | null, attempts: Array<{ createdAt: string, durationMs: number, problem: string | null, status: number | null }> } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null } } }
    | Record<PropertyKey, never>
   | null };
