// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

const account = 'fragment Account on Account{budget{...Budget}createdAt email id name status}';
const accountLimits = 'fragment AccountLimits on AccountLimits{addresses maxConcurrent requestsPerMinute tokensPerMinute spend{...SpendLimits}spent{...Spend}timeZone}';
const announcement = 'fragment Announcement on Announcement{body bodyVi endsAt id kind modelIds startsAt title titleVi updates{...StatusUpdate}}';
const apiKey = 'fragment ApiKey on ApiKey{addresses maxConcurrent tokensPerMinute burnLimit{...BurnLimit}createdAt deletedAt expiresAt id last4 lastUsedAt limits{...SpendLimits}maker{isMember name}models name owner prefix project{...Project}replaces requestsPerMinute spend{...Spend}status}';
const auditEntry = 'fragment AuditEntry on AuditEntry{account{id name}action actor actorName after before createdAt id subject}';
const bankAccount = 'fragment BankAccount on BankAccount{account bank bin name demonstration}';
const bankTransfer = 'fragment BankTransfer on BankTransfer{amountVnd bankReference bookedAt createdAt direction id matchedBy matchedByName memo order{id memo}source providerId review{...TransferReview}}';
const bonusStep = 'fragment BonusStep on BonusStep{basisPoints fromVnd}';
const brokenInvariant = 'fragment BrokenInvariant on BrokenInvariant{invariant rows}';
const budget = 'fragment Budget on Budget{charged expired free granted grants{...Grant}held}';
const burnLimit = 'fragment BurnLimit on BurnLimit{amount minutes}';
const businessNoticeSettings = 'fragment BusinessNoticeSettings on BusinessNoticeSettings{billDays billPercent mail marginPercent muted quietFrom quietTo shortfall timeZone}';
const catalogEntry = 'fragment CatalogEntry on CatalogEntry{allow capabilities modelCapabilities reasoningEfforts reasoningTokensPerSecond onUnknownMembers contextWindow createdAt displayName enabled family id kind maxOutputTokens modelId priceVersions{...PriceVersion}routes{...Route}}';
const codeBatch = 'fragment CodeBatch on CodeBatch{amount count createdAt expiresAt id name plan{name planId}revokedAt used uses validDays}';
const codeRedemption = 'fragment CodeRedemption on CodeRedemption{account{email id name}last4 redeemedAt}';
const creditNote = 'fragment CreditNote on CreditNote{amountVnd bonus budget issuedAt kind number sentVnd undoneAt url}';
const grant = 'fragment Grant on Grant{amount createdAt expired expiresAt free held id kind reason spent}';
const grantEnded = 'fragment GrantEnded on GrantEnded{grant{...Grant}held taken}';
const grantGiven = 'fragment GrantGiven on GrantGiven{givenBefore grant{...Grant}}';
const hold = 'fragment Hold on Hold{account{email id name}amount heldAt key{id name}requestId}';
const imagePrices = 'fragment ImagePrices on ImagePrices{tokens{input cacheHit output}each{quality size upToPixels price}}';
const ledgerEntry = 'fragment LedgerEntry on LedgerEntry{attribution{...RequestAttribution}charged cost createdAt freeAfter id key{...ApiKey}latencyMs operator{margin upstream upstreamCost}lines{...RunLine}model outcome protocol receipt{...ReceiptLine}requestId stream clock{...PriceMoment}variant{...PriceVariantChoice}tier{...PromptTier}timeToFirstByteMs units{...UnitLine}usage{...Tokens}usageSource}';
const matchableOrder = 'fragment MatchableOrder on Order{account{email id name}bonus budget createdAt id memo planName priceVnd receivedVnd status}';
const member = 'fragment Member on Member{createdAt email id name role}';
const modelMismatch = 'fragment ModelMismatch on ModelMismatch{asked closedAt closedBy count firstSeenAt id lastRequestId lastSeenAt model reported upstream}';
const modelProbing = 'fragment ModelProbing on ModelProbing{askedMinutes askedMonthlyCost effectiveMinutes everyMinutes measured modelId monthlyBudget monthlyCost monthlyUpstreamCost}';
const notice = 'fragment Notice on Notice{clearedAt createdAt deliveries{channel deliveredAt held nextAttemptAt problem state}facts id kind mailed}';
const noticeChannel = 'fragment NoticeChannel on NoticeChannel{createdAt deliveredAt enabled id kind kinds language name problem target}';
const order = 'fragment Order on Order{account{email name}bonus budget createdAt creditNotes{...CreditNote}expiresAt freeAmount giftTo id invoice{...OrderInvoice}memo paidAt payment{...PaymentInstructions}payments{...OrderPayment}plan{planId}planName priceVnd receiptUrl receivedVnd status upgradedOrder{id}validDays}';
const orderInvoice = 'fragment OrderInvoice on OrderInvoice{fileUrl issuedAt nextAt number problem state url}';
const orderPayment = 'fragment OrderPayment on OrderPayment{amountVnd bankReference bookedAt}';
const pageInfo = 'fragment PageInfo on PageInfo{endCursor hasNextPage hasPreviousPage startCursor}';
const paymentInstructions = 'fragment PaymentInstructions on PaymentInstructions{amountVnd bank{...BankAccount}memo qrPayload qrPng qrSvg}';
const plan = 'fragment Plan on Plan{budget id name onSale planId priceVnd validDays vndPerUsd}';
const priceClock = 'fragment PriceClock on PriceClock{exceptDates timeZone windows{...PriceWindow}}';
const priceHours = 'fragment PriceHours on PriceHours{weekdays period timeZone}';
const priceMoment = 'fragment PriceMoment on PriceMoment{pricedAt window{...PriceHours}}';
const priceTier = 'fragment PriceTier on PriceTier{abovePromptTokens cacheHit cacheWrite1h cacheWrite5m input output}';
const priceVariant = 'fragment PriceVariant on PriceVariant{cacheHit cacheWrite1h cacheWrite5m input name output tiers{...PriceTier}}';
const priceVariantChoice = 'fragment PriceVariantChoice on PriceVariantChoice{asked counted served}';
const priceVersion = 'fragment PriceVersion on PriceVersion{createdAt id maxPromptTokens prices{...Prices}validFrom}';
const priceWindow = 'fragment PriceWindow on PriceWindow{cacheHit cacheWrite1h cacheWrite5m weekdays hours input output tiers{...PriceTier}}';
const prices = 'fragment Prices on Prices{cacheHit cacheWrite1h cacheWrite5m clock{...PriceClock}images{...ImagePrices}input output perUnit{...UnitPrices}tiers{...PriceTier}variants{...PriceVariant}}';
const probeAgent = 'fragment ProbeAgent on ProbeAgent{createdAt id last4 lastSeenAt measuredAt name region revokedAt}';
const probing = 'fragment Probing on Probing{everyMinutes models{...ModelProbing}monthlyBudget observers serviceProbes spentThisMonth}';
const problem = 'fragment Problem on Error{code message ...on BusyError{retryAfterSeconds}...on InputError{problems{message path}}...on TooManyAttemptsError{retryAfterSeconds}}';
const project = 'fragment Project on Project{archivedAt createdAt id name}';
const promptTier = 'fragment PromptTier on PromptTier{abovePromptTokens upToPromptTokens}';
const receiptLine = 'fragment ReceiptLine on ReceiptLine{amount tokenPool pricePerMillion tokens}';
const requestAttribution = 'fragment RequestAttribution on RequestAttribution{session tags user}';
const route = 'fragment Route on Route{costs{...Prices}enabled entry{displayName id modelId}id priority upstream{id protocol simulated upstreamId}upstreamModel weight}';
const routeTest = 'fragment RouteTest on RouteTest{latencyMs ok problem status}';
const runLine = 'fragment RunLine on RunLine{amount model receipt{...ReceiptLine}}';
const seller = 'fragment Seller on Seller{address name privacyUrl refundUrl supportEmail supportPhone taxCode termsUrl}';
const settingsOfGroup = 'fragment SettingsOfGroup on SettingsOfGroup{group hasTest lastTransfer{amountVnd createdAt memo review{closedAt reason}}refusals{at reason}settings{choices fallback kind name required shown source}webhookAddress}';
const spend = 'fragment Spend on Spend{held lifetime thisMonth thisWeek today}';
const spendLimits = 'fragment SpendLimits on SpendLimits{day lifetime month week}';
const statusUpdate = 'fragment StatusUpdate on StatusUpdate{body bodyVi createdAt id state}';
const timelineEvent = 'fragment TimelineEvent on TimelineEvent{actor actorName at kind subject text usd vnd}';
const tokens = 'fragment Tokens on Tokens{cacheHit cacheWrite1h cacheWrite5m input output}';
const topUp = 'fragment TopUp on TopUp{maxVnd minVnd plan{...Plan}}';
const topUpSaved = 'fragment TopUpSaved on TopUpSaved{bonusSteps{...BonusStep}topUp{...TopUp}}';
const transferProposal = 'fragment TransferProposal on TransferProposal{differences order{...MatchableOrder}reason}';
const transferReview = 'fragment TransferReview on TransferReview{closedAt closedBy note order{id memo}reason repeats{id}surplusVnd}';
const unitLine = 'fragment UnitLine on UnitLine{amount count price chargedUnit}';
const unitPrices = 'fragment UnitPrices on UnitPrices{image minute search}';
const upstream = 'fragment Upstream on Upstream{baseUrl country enabled features{...UpstreamFeatures}health{...UpstreamHealth}id keys{...UpstreamKey}onDisconnect profile protocol recipient routes{...Route}simulated upstreamId}';
const upstreamFeatures = 'fragment UpstreamFeatures on UpstreamFeatures{cachedTokens callSignatures effort endUser files webSocket hostedTools imageUrls jsonObject jsonSchema maxTokensField minOutputTokens parallelCalls reasoningHistory sampling shortCallIds stop store systemRole thinkingSwitch toolChoice traceContext usageOption}';
const upstreamHealth = 'fragment UpstreamHealth on UpstreamHealth{consecutiveFailures ejected pausedKeys}';
const upstreamKey = 'fragment UpstreamKey on UpstreamKey{createdAt enabled id last4}';
const usageRow = 'fragment UsageRow on UsageRow{charged cost failures isRest key{deletedAt id last4 name}maker{memberId name}model outcome project{...Project}requests start tokens{...Tokens}}';
const vendor = 'fragment Vendor on Vendor{keys models{...VendorModel}name source sourceDate vendorId}';
const vendorModel = 'fragment VendorModel on VendorModel{contextWindow costs{...Prices}displayName maxOutputTokens modelId routeId}';
const vendorProfile = 'fragment VendorProfile on VendorProfile{displayName endpoints{baseUrl features{...UpstreamFeatures}protocol}keyVariable profile quirks{source what}}';

/** The text of each operation. */
export const operatorDocuments: Record<string, string> = {
  accountForOperator: 'query accountForOperator($id:ID!){operator{account(id:$id){...Account}}}' + account + budget + grant,
  listAccounts: 'query listAccounts($after:String$first:Int$search:String$status:AccountStatus){operator{accounts(after:$after first:$first search:$search status:$status){edges{cursor node{...Account}}pageInfo{...PageInfo}}}}' + account + budget + grant + pageInfo,
  listAnomalies: 'query listAnomalies($after:String$days:Int$first:Int){operator{anomalies(after:$after days:$days first:$first){nodes{cost createdAt model operator{account{id name}upstream}outcome requestId usageSource}pageInfo{...PageInfo}}}}' + pageInfo,
  listModelMismatches: 'query listModelMismatches($after:String$first:Int$open:Boolean){operator{modelMismatches(after:$after first:$first open:$open){nodes{...ModelMismatch}pageInfo{...PageInfo}}}}' + modelMismatch + pageInfo,
  closeModelMismatch: 'mutation closeModelMismatch($id:ID!){closeModelMismatch(id:$id){__typename ...ModelMismatch ...Problem}}' + modelMismatch + problem,
  auditLog: 'query auditLog($actions:[String!]$actor:String$after:String$first:Int$from:DateTime$subject:String$to:DateTime){operator{auditLog(actions:$actions actor:$actor after:$after first:$first from:$from subject:$subject to:$to){edges{cursor node{...AuditEntry}}pageInfo{...PageInfo}}}}' + auditEntry + pageInfo,
  holds: 'query holds($after:String$first:Int){operator{holds(after:$after first:$first){nodes{...Hold}pageInfo{...PageInfo}}}}' + hold + pageInfo,
  invariants: 'query invariants($accountId:ID!){operator{invariants(accountId:$accountId){...BrokenInvariant}}}' + brokenInvariant,
  catalog: 'query catalog{operator{models{...CatalogEntry}}}' + catalogEntry + imagePrices + priceClock + priceTier + priceVariant + priceVersion + priceWindow + prices + route + unitPrices,
  vendorProfiles: 'query vendorProfiles{operator{vendorProfiles{...VendorProfile}}}' + upstreamFeatures + vendorProfile,
  upstreams: 'query upstreams{operator{upstreams{...Upstream}}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + route + unitPrices + upstream + upstreamFeatures + upstreamHealth + upstreamKey,
  giveGrant: 'mutation giveGrant($input:GiveGrantInput!){giveGrant(input:$input){__typename ...GrantGiven ...Problem}}' + grant + grantGiven + problem,
  endGrant: 'mutation endGrant($input:EndGrantInput!){endGrant(input:$input){__typename ...GrantEnded ...Problem}}' + grant + grantEnded + problem,
  openAccount: 'mutation openAccount($input:OpenAccountInput!){openAccount(input:$input){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  vendors: 'query vendors{operator{vendors{...Vendor}}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + unitPrices + vendor + vendorModel,
  setup: 'query setup{operator{setup{done step}}}',
  testVendorKey: 'mutation testVendorKey($secret:String!$vendorId:String!){testVendorKey(input:{secret:$secret vendorId:$vendorId}){__typename ...RouteTest ...Problem}}' + problem + routeTest,
  addVendor: 'mutation addVendor($input:AddVendorInput!){addVendor(input:$input){__typename ...Vendor ...Problem}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + problem + unitPrices + vendor + vendorModel,
  discoverVendor: 'mutation discoverVendor($input:DiscoverVendorInput!){discoverVendor(input:$input){__typename ...on FoundVendor{baseUrl models{capabilities contextWindow costs{...Prices}displayName efforts family kind limitsKnown maxOutputTokens modelId upstreamModel}profile protocol upstreamId}...Problem}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + problem + unitPrices,
  addUpstreamModels: 'mutation addUpstreamModels($input:AddUpstreamModelsInput!){addUpstreamModels(input:$input){__typename ...Upstream ...Problem}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + problem + route + unitPrices + upstream + upstreamFeatures + upstreamHealth + upstreamKey,
  failures: 'query failures($from:DateTime!$period:UsagePeriod!$timeZone:String$to:DateTime){operator{failures(from:$from period:$period timeZone:$timeZone to:$to){failures outcome start}}}',
  operatorSettings: 'query operatorSettings{operator{settings{...SettingsOfGroup}}}' + settingsOfGroup,
  saveSettings: 'mutation saveSettings($input:SaveSettingsInput!){saveSettings(input:$input){__typename ...SettingsOfGroup ...Problem}}' + problem + settingsOfGroup,
  testSettings: 'mutation testSettings($input:TestSettingsInput!){testSettings(input:$input){__typename ...on SettingsTest{ok finding detail problem}...Problem}}' + problem,
  listOperators: 'query listOperators{operator{operators{email id name operatorRole secondFactor}}}',
  setOperator: 'mutation setOperator($email:String!$operator:Boolean!$role:OperatorRole){setOperator(input:{email:$email operator:$operator role:$role}){__typename ...on User{id email name}...Problem}}' + problem,
  timeline: 'query timeline($accountId:ID!$after:String$first:Int){operator{timeline(accountId:$accountId after:$after first:$first){nodes{...TimelineEvent}pageInfo{...PageInfo}}}}' + pageInfo + timelineEvent,
  addAccountNote: 'mutation addAccountNote($accountId:ID!$text:String!){addAccountNote(input:{accountId:$accountId text:$text}){__typename ...on Account{id}...Problem}}' + problem,
  revokeKey: 'mutation revokeKey($id:ID!$reason:String!){revokeKey(input:{id:$id reason:$reason}){__typename ...ApiKey ...Problem}}' + apiKey + burnLimit + problem + project + spend + spendLimits,
  setAccountStatus: 'mutation setAccountStatus($accountId:ID!$reason:String$status:AccountStatus!){setAccountStatus(input:{accountId:$accountId reason:$reason status:$status}){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  saveModel: 'mutation saveModel($input:SaveModelInput!){saveModel(input:$input){__typename ...CatalogEntry ...Problem}}' + catalogEntry + imagePrices + priceClock + priceTier + priceVariant + priceVersion + priceWindow + prices + problem + route + unitPrices,
  setModelEnabled: 'mutation setModelEnabled($enabled:Boolean!$modelId:String!){setModelEnabled(input:{enabled:$enabled modelId:$modelId}){__typename ...CatalogEntry ...Problem}}' + catalogEntry + imagePrices + priceClock + priceTier + priceVariant + priceVersion + priceWindow + prices + problem + route + unitPrices,
  savePrices: 'mutation savePrices($input:SavePricesInput!){savePrices(input:$input){__typename ...CatalogEntry ...Problem}}' + catalogEntry + imagePrices + priceClock + priceTier + priceVariant + priceVersion + priceWindow + prices + problem + route + unitPrices,
  setRoutes: 'mutation setRoutes($modelId:String!$routes:[RouteInput!]!){setRoutes(input:{modelId:$modelId routes:$routes}){__typename ...CatalogEntry ...Problem}}' + catalogEntry + imagePrices + priceClock + priceTier + priceVariant + priceVersion + priceWindow + prices + problem + route + unitPrices,
  testRoute: 'mutation testRoute($id:ID!){testRoute(id:$id){__typename ...RouteTest ...Problem}}' + problem + routeTest,
  saveUpstream: 'mutation saveUpstream($input:SaveUpstreamInput!){saveUpstream(input:$input){__typename ...Upstream ...Problem}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + problem + route + unitPrices + upstream + upstreamFeatures + upstreamHealth + upstreamKey,
  setUpstreamEnabled: 'mutation setUpstreamEnabled($enabled:Boolean!$upstreamId:String!){setUpstreamEnabled(input:{enabled:$enabled upstreamId:$upstreamId}){__typename ...Upstream ...Problem}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + problem + route + unitPrices + upstream + upstreamFeatures + upstreamHealth + upstreamKey,
  addUpstreamKey: 'mutation addUpstreamKey($secret:String!$upstreamId:String!){addUpstreamKey(input:{secret:$secret upstreamId:$upstreamId}){__typename ...Upstream ...Problem}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + problem + route + unitPrices + upstream + upstreamFeatures + upstreamHealth + upstreamKey,
  deleteUpstreamKey: 'mutation deleteUpstreamKey($keyId:ID!$upstreamId:String!){deleteUpstreamKey(keyId:$keyId upstreamId:$upstreamId){__typename ...Upstream ...Problem}}' + imagePrices + priceClock + priceTier + priceVariant + priceWindow + prices + problem + route + unitPrices + upstream + upstreamFeatures + upstreamHealth + upstreamKey,
  searchOrders: 'query searchOrders($after:String$first:Int$memo:String$search:String$status:OrderStatus){operator{orders(after:$after first:$first memo:$memo search:$search status:$status){edges{cursor node{...Order account{email id name}}}pageInfo{...PageInfo}totalCount}}}' + bankAccount + creditNote + order + orderInvoice + orderPayment + pageInfo + paymentInstructions,
  listAllPlans: 'query listAllPlans{operator{plans{...Plan}}}' + plan,
  listBankTransfers: 'query listBankTransfers($after:String$first:Int$queue:Boolean$search:String){operator{bankTransfers(after:$after first:$first queue:$queue search:$search){edges{cursor node{...BankTransfer}}pageInfo{...PageInfo}totalCount}}}' + bankTransfer + pageInfo + transferReview,
  findOrdersToMatch: 'query findOrdersToMatch($after:String$first:Int$search:String$status:OrderStatus){operator{orders(after:$after first:$first search:$search status:$status){edges{cursor node{...MatchableOrder}}pageInfo{...PageInfo}totalCount}}}' + matchableOrder + pageInfo,
  transferProposals: 'query transferProposals($transferId:ID!){node(id:$transferId){__typename ...on BankTransfer{id proposals{...TransferProposal}}}}' + matchableOrder + transferProposal,
  undoTransferMatch: 'mutation undoTransferMatch($transferId:ID!){undoTransferMatch(transferId:$transferId){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  creditTransfer: 'mutation creditTransfer($accountId:ID!$planId:String!$transferId:ID!){creditTransfer(accountId:$accountId planId:$planId transferId:$transferId){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  matchTransfer: 'mutation matchTransfer($orderId:ID!$transferId:ID!){matchTransfer(orderId:$orderId transferId:$transferId){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  recordTransfer: 'mutation recordTransfer($input:RecordTransferInput!){recordTransfer(input:$input){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  closeTransferReview: 'mutation closeTransferReview($note:String!$transferId:ID!){closeTransferReview(input:{note:$note transferId:$transferId}){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  savePlan: 'mutation savePlan($input:SavePlanInput!){savePlan(input:$input){__typename ...Plan ...Problem}}' + plan + problem,
  probing: 'query probing{operator{probeAgents{...ProbeAgent}probing{...Probing}}}' + modelProbing + probeAgent + probing,
  createProbeAgent: 'mutation createProbeAgent($input:CreateProbeAgentInput!){createProbeAgent(input:$input){__typename ...on CreatedProbeAgent{probeAgent{...ProbeAgent}token}...Problem}}' + probeAgent + problem,
  revokeProbeAgent: 'mutation revokeProbeAgent($id:ID!$keepResults:Boolean){revokeProbeAgent(input:{id:$id keepResults:$keepResults}){__typename ...ProbeAgent ...Problem}}' + probeAgent + problem,
  saveProbing: 'mutation saveProbing($input:SaveProbingInput!){saveProbing(input:$input){__typename ...Probing ...Problem}}' + modelProbing + probing + problem,
  addStatusUpdate: 'mutation addStatusUpdate($input:AddStatusUpdateInput!){addStatusUpdate(input:$input){__typename ...Problem ...StatusUpdate}}' + problem + statusUpdate,
  announce: 'mutation announce($input:AnnounceInput!){announce(input:$input){__typename ...Announcement ...Problem}}' + announcement + problem + statusUpdate,
  endAnnouncement: 'mutation endAnnouncement($id:ID!$endsAt:DateTime){endAnnouncement(input:{id:$id endsAt:$endsAt}){__typename ...Announcement ...Problem}}' + announcement + problem + statusUpdate,
  accountMembers: 'query accountMembers($id:ID!){operator{account(id:$id){members{...Member}}}}' + member,
  accountLimitsForOperator: 'query accountLimitsForOperator($id:ID!){operator{account(id:$id){limits{...AccountLimits}}}}' + accountLimits + spend + spendLimits,
  accountUsage: 'query accountUsage($after:String$first:Int$from:DateTime$id:ID!$timeZone:String){operator{account(id:$id){usage(after:$after by:[MODEL]first:$first from:$from most:20 period:DAY timeZone:$timeZone){nodes{...UsageRow}pageInfo{...PageInfo}}}}}' + pageInfo + project + tokens + usageRow,
  accountKeys: 'query accountKeys($after:String$first:Int$id:ID!$search:String){operator{account(id:$id){keys(after:$after deleted:true first:$first search:$search){edges{cursor node{...ApiKey}}pageInfo{...PageInfo}}}}}' + apiKey + burnLimit + pageInfo + project + spend + spendLimits,
  accountOrders: 'query accountOrders($after:String$first:Int$id:ID!){operator{account(id:$id){orders(after:$after first:$first){edges{cursor node{budget createdAt id memo planName priceVnd status}}pageInfo{...PageInfo}}}}}' + pageInfo,
  accountEntries: 'query accountEntries($after:String$filter:LedgerFilter$first:Int$id:ID!){operator{account(id:$id){ledger(after:$after filter:$filter first:$first){edges{cursor node{...LedgerEntry}}pageInfo{...PageInfo}}}}}' + apiKey + burnLimit + ledgerEntry + pageInfo + priceHours + priceMoment + priceVariantChoice + project + promptTier + receiptLine + requestAttribution + runLine + spend + spendLimits + tokens + unitLine,
  accountEntry: 'query accountEntry($id:ID!$requestId:String!){operator{account(id:$id){ledgerEntry(requestId:$requestId){...LedgerEntry}}}}' + apiKey + burnLimit + ledgerEntry + priceHours + priceMoment + priceVariantChoice + project + promptTier + receiptLine + requestAttribution + runLine + spend + spendLimits + tokens + unitLine,
  business: 'query business($timeZone:String){operator{business(timeZone:$timeZone){failingUpstreams{health{...UpstreamHealth}id upstreamId}modelMismatches newAccounts openIncidents vndThisMonth vndToday waitingSince waitingTransfers}}}' + upstreamHealth,
  search: 'query search($text:String!){operator{search(text:$text){accountId detail id kind title}}}',
  saveSeller: 'mutation saveSeller($input:SellerInput!){saveSeller(input:$input){__typename ...Seller ...Problem}}' + problem + seller,
  listBusinessNotices: 'query listBusinessNotices($after:String$first:Int){operator{notices(after:$after first:$first){nodes{...Notice}pageInfo{...PageInfo}}}}' + notice + pageInfo,
  businessNoticeSettings: 'query businessNoticeSettings{operator{noticeSettings{...BusinessNoticeSettings}}}' + businessNoticeSettings,
  updateBusinessNoticeSettings: 'mutation updateBusinessNoticeSettings($input:BusinessNoticeSettingsInput!){updateBusinessNoticeSettings(input:$input){__typename ...BusinessNoticeSettings ...Problem}}' + businessNoticeSettings + problem,
  listBusinessChannels: 'query listBusinessChannels{operator{noticeChannels{...NoticeChannel}}}' + noticeChannel,
  createBusinessChannel: 'mutation createBusinessChannel($input:CreateNoticeChannelInput!){createBusinessChannel(input:$input){__typename ...on CreatedNoticeChannel{channel{...NoticeChannel}signing}...Problem}}' + noticeChannel + problem,
  updateBusinessChannel: 'mutation updateBusinessChannel($input:UpdateNoticeChannelInput!){updateBusinessChannel(input:$input){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  deleteBusinessChannel: 'mutation deleteBusinessChannel($id:ID!){deleteBusinessChannel(id:$id){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  testBusinessChannel: 'mutation testBusinessChannel($id:ID!){testBusinessChannel(id:$id){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  invoiceProblems: 'query invoiceProblems($after:String$first:Int){operator{invoiceProblems(after:$after first:$first){nodes{...OrderInvoice order{id memo}}pageInfo{...PageInfo}}}}' + orderInvoice + pageInfo,
  retryInvoice: 'mutation retryInvoice($orderId:ID!){retryInvoice(orderId:$orderId){__typename ...OrderInvoice ...Problem}}' + orderInvoice + problem,
  codeBatches: 'query codeBatches($after:String$first:Int){operator{codeBatches(after:$after first:$first){nodes{...CodeBatch}pageInfo{...PageInfo}}}}' + codeBatch + pageInfo,
  codeRedemptions: 'query codeRedemptions($batchId:ID!$after:String$first:Int){operator{codeRedemptions(batchId:$batchId after:$after first:$first){nodes{...CodeRedemption}pageInfo{...PageInfo}}}}' + codeRedemption + pageInfo,
  createCodes: 'mutation createCodes($input:CreateCodesInput!){createCodes(input:$input){__typename ...on CodesCreated{batch{...CodeBatch}codes}...Problem}}' + codeBatch + problem,
  revokeCodes: 'mutation revokeCodes($batchId:ID!){revokeCodes(batchId:$batchId){__typename ...CodeBatch ...Problem}}' + codeBatch + problem,
  saveTopUp: 'mutation saveTopUp($topUp:TopUpInput){saveTopUp(topUp:$topUp){__typename ...TopUpSaved ...Problem}}' + bonusStep + plan + problem + topUp + topUpSaved,
  saveBonusSteps: 'mutation saveBonusSteps($steps:[BonusStepInput!]!){saveBonusSteps(steps:$steps){__typename ...TopUpSaved ...Problem}}' + bonusStep + plan + problem + topUp + topUpSaved,
  beginAccountView: 'mutation beginAccountView($accountId:ID!){beginAccountView(accountId:$accountId){__typename ...on AccountViewBegun{grant until}...Problem}}' + problem,
};
