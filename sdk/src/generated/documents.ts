// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

const accessToken = 'fragment AccessToken on AccessToken{createdAt deletedAt expiresAt id last4 lastUsedAt name prefix scopes}';
const account = 'fragment Account on Account{budget{...Budget}createdAt email id name status}';
const announcement = 'fragment Announcement on Announcement{body bodyVi endsAt id kind modelIds startsAt title titleVi updates{...StatusUpdate}}';
const anomaly = 'fragment Anomaly on Anomaly{accountId cost createdAt model outcome requestId upstream usageSource}';
const apiKey = 'fragment ApiKey on ApiKey{createdAt deletedAt expiresAt id last4 limits{...SpendLimits}models name prefix replaces requestsPerMinute spend{...KeySpend}status}';
const auditEntry = 'fragment AuditEntry on AuditEntry{action actor after before createdAt id subject}';
const backupCodes = 'fragment BackupCodes on BackupCodes{backupCodes}';
const bankAccount = 'fragment BankAccount on BankAccount{account bin name demonstration}';
const bankTransfer = 'fragment BankTransfer on BankTransfer{amountVnd bankReference bookedAt createdAt direction id matchedBy memo orderId provider providerId review{...TransferReview}}';
const brokenInvariant = 'fragment BrokenInvariant on BrokenInvariant{invariant rows}';
const budget = 'fragment Budget on Budget{charged expired free granted grants{...Grant}held}';
const catalogEntry = 'fragment CatalogEntry on CatalogEntry{allow capabilities efforts reasoningTokensPerSecond unknownMembers contextWindow createdAt displayName enabled family id maxOutputTokens modelId prices{...PriceVersion}routes{...Route}}';
const createdAccessToken = 'fragment CreatedAccessToken on CreatedAccessToken{accessToken{...AccessToken}secret}';
const createdKey = 'fragment CreatedKey on CreatedKey{key{...ApiKey}secret}';
const done = 'fragment Done on Done{ok}';
const download = 'fragment Download on Download{expiresAt url}';
const grant = 'fragment Grant on Grant{amount createdAt expired expiresAt free held id kind reason spent}';
const grantEnded = 'fragment GrantEnded on GrantEnded{grant{...Grant}held taken}';
const grantGiven = 'fragment GrantGiven on GrantGiven{givenBefore grant{...Grant}}';
const hold = 'fragment Hold on Hold{accountId amount heldAt keyId requestId}';
const incident = 'fragment Incident on Incident{affected cause endedAt id impact modelId startedAt updates{...StatusUpdate}}';
const invitation = 'fragment Invitation on Invitation{createdAt email expiresAt id role}';
const keySpend = 'fragment KeySpend on KeySpend{held lastUsedAt lifetime thisMonth today}';
const ledgerEntry = 'fragment LedgerEntry on LedgerEntry{charged cost createdAt freeAfter id key{...ApiKey}latencyMs margin model outcome protocol receipt{...ReceiptLine}requestId stream tier{...PromptTier}timeToFirstByteMs units{...UnitLine}upstream upstreamCost usage{...Tokens}usageSource}';
const marginRow = 'fragment MarginRow on MarginRow{account{id name}charged margin model requests shortfall start unknownCharged unknownRequests upstream upstreamCost}';
const matchableOrder = 'fragment MatchableOrder on Order{account{email id name}createdAt id memo planName priceVnd receivedVnd status}';
const member = 'fragment Member on Member{createdAt email id name role}';
const model = 'fragment Model on Model{agentStepsFor5Usd cacheHit{...TokenPrice}cacheWrite1h{...TokenPrice}cacheWrite5m{...TokenPrice}capabilities efforts contextWindow displayName family id input{...TokenPrice}markedAgentStepsFor5Usd maxOutputTokens maxPromptTokens modelId nativeProtocols perUnit{...UnitPrices}output{...TokenPrice}pricedSince priceTiers{...ModelPriceTier}protocols simulated}';
const modelMismatch = 'fragment ModelMismatch on ModelMismatch{asked closedAt closedBy count firstSeenAt id lastRequestId lastSeenAt model reported upstream}';
const modelPriceTier = 'fragment ModelPriceTier on ModelPriceTier{abovePromptTokens cacheHit{...TokenPrice}cacheWrite1h{...TokenPrice}cacheWrite5m{...TokenPrice}input{...TokenPrice}output{...TokenPrice}}';
const modelProbing = 'fragment ModelProbing on ModelProbing{askedMinutes askedMonthlyCost effectiveMinutes everyMinutes measured modelId monthlyBudget monthlyCost monthlyUpstreamCost}';
const modelStatus = 'fragment ModelStatus on ModelStatus{days{...UptimeDay}displayName everyMinutes last7Days{...Uptime}last24Hours{...Uptime}last30Days{...Uptime}last90Days{...Uptime}measuredSince modelId requests{...RequestShare}requestsSucceeded simulated state ways{...ProbedWay}}';
const notice = 'fragment Notice on Notice{clearedAt createdAt facts id kind mailed}';
const noticeSettings = 'fragment NoticeSettings on NoticeSettings{lowBalance mail}';
const order = 'fragment Order on Order{budget createdAt expiresAt id memo paidAt payment{...PaymentInstructions}payments{...OrderPayment}planId planName priceVnd receiptUrl receivedVnd status upgrades validDays}';
const orderPayment = 'fragment OrderPayment on OrderPayment{amountVnd bankReference bookedAt}';
const pageInfo = 'fragment PageInfo on PageInfo{endCursor hasNextPage hasPreviousPage startCursor}';
const paymentInstructions = 'fragment PaymentInstructions on PaymentInstructions{amountVnd bank{...BankAccount}memo qrPayload qrPng qrSvg}';
const plan = 'fragment Plan on Plan{budget id name onSale planId priceVnd validDays vndPerUsd}';
const priceTier = 'fragment PriceTier on PriceTier{abovePromptTokens cacheHit cacheWrite1h cacheWrite5m input output}';
const priceVersion = 'fragment PriceVersion on PriceVersion{cacheHit cacheWrite1h cacheWrite5m createdAt id input maxPromptTokens output perUnit{...UnitPrices}tiers{...PriceTier}validFrom}';
const probeAgent = 'fragment ProbeAgent on ProbeAgent{createdAt id last4 lastSeenAt measuredAt name region revokedAt}';
const probedWay = 'fragment ProbedWay on ProbedWay{checkedAt latencyMs mode outcome protocol reason timeToFirstByteMs}';
const probing = 'fragment Probing on Probing{everyMinutes models{...ModelProbing}monthlyBudget observers spentThisMonth}';
const problem = 'fragment Problem on Error{code message ...on BusyError{retryAfterSeconds}...on InputError{problems{message path}}...on TooManyAttemptsError{retryAfterSeconds}}';
const promptTier = 'fragment PromptTier on PromptTier{abovePromptTokens upToPromptTokens}';
const receipt = 'fragment Receipt on Receipt{accountEmail accountName budget issuedAt number payments{...OrderPayment}planName priceVnd receivedVnd}';
const receiptLine = 'fragment ReceiptLine on ReceiptLine{amount pool pricePerMillion tokens}';
const requestShare = 'fragment RequestShare on RequestShare{count protocol succeeded}';
const revenueRow = 'fragment RevenueRow on RevenueRow{charged cost failures knownMargin margin model requests shortfall start tokens{...Tokens}unknownCharged unknownRequests upstreamCost}';
const route = 'fragment Route on Route{costs{...RouteCosts}enabled entry{displayName id modelId}id priority upstream{id protocol simulated upstreamId}upstreamModel weight}';
const routeCosts = 'fragment RouteCosts on RouteCosts{cacheHit cacheWrite1h cacheWrite5m input output perUnit{...UnitPrices}tiers{...PriceTier}}';
const routeTest = 'fragment RouteTest on RouteTest{latencyMs ok problem status}';
const secondFactorSetup = 'fragment SecondFactorSetup on SecondFactorSetup{backupCodes uri}';
const seller = 'fragment Seller on Seller{address name privacyUrl refundUrl supportEmail supportPhone taxCode termsUrl}';
const serviceAbsence = 'fragment ServiceAbsence on ServiceAbsence{from to}';
const serviceStatus = 'fragment ServiceStatus on ServiceStatus{absences{...ServiceAbsence}announcements{...Announcement}generatedAt incidents{...Incident}measuredSince models{...ModelStatus}observers{...UptimeObserver}state}';
const session = 'fragment Session on Session{createdAt current expiresAt id ipAddress lastUsedAt userAgent}';
const shortfall = 'fragment Shortfall on Shortfall{accountId charged cost createdAt missing model requestId}';
const signedIn = 'fragment SignedIn on SignedIn{secondFactorRequired}';
const spendLimits = 'fragment SpendLimits on SpendLimits{day lifetime month}';
const statusUpdate = 'fragment StatusUpdate on StatusUpdate{body bodyVi createdAt id state}';
const tokenPrice = 'fragment TokenPrice on TokenPrice{usdPerMillion vndPerMillionAtBest vndPerMillionAtStarter}';
const tokens = 'fragment Tokens on Tokens{cacheHit cacheWrite1h cacheWrite5m input output}';
const transferProposal = 'fragment TransferProposal on TransferProposal{differences order{...MatchableOrder}reason}';
const transferReview = 'fragment TransferReview on TransferReview{closedAt closedBy note orderId reason repeatsId surplusVnd}';
const unitLine = 'fragment UnitLine on UnitLine{amount count price unit}';
const unitPrices = 'fragment UnitPrices on UnitPrices{image minute search}';
const upstream = 'fragment Upstream on Upstream{baseUrl enabled features health{...UpstreamHealth}id keys{...UpstreamKey}onDisconnect profile protocol routes{...Route}simulated upstreamId}';
const upstreamHealth = 'fragment UpstreamHealth on UpstreamHealth{consecutiveFailures ejected restingKeys}';
const upstreamKey = 'fragment UpstreamKey on UpstreamKey{createdAt enabled id last4}';
const uptime = 'fragment Uptime on Uptime{down latencyMs maintenance noData ratio up}';
const uptimeDay = 'fragment UptimeDay on UptimeDay{date uptime{...Uptime}}';
const uptimeObserver = 'fragment UptimeObserver on UptimeObserver{agent measuredAt name region}';
const uptimePoint = 'fragment UptimePoint on UptimePoint{at uptime{...Uptime}}';
const usageRow = 'fragment UsageRow on UsageRow{charged cost failures keyId model outcome requests start tokens{...Tokens}}';
const user = 'fragment User on User{createdAt email emailVerified id locale name operator secondFactor}';
const vendor = 'fragment Vendor on Vendor{keys models{...VendorModel}name source sourceDate vendorId}';
const vendorModel = 'fragment VendorModel on VendorModel{contextWindow costs{...RouteCosts}displayName maxOutputTokens modelId routeId}';
const vendorProfile = 'fragment VendorProfile on VendorProfile{displayName endpoints{baseUrl features protocol}keyVariable profile quirks{source what}}';
const viewer = 'fragment Viewer on Viewer{accounts{id name status}scopes sessions{...Session}user{...User}}';
const webhookAttempt = 'fragment WebhookAttempt on WebhookAttempt{createdAt durationMs problem status}';
const webhookDelivery = 'fragment WebhookDelivery on WebhookDelivery{attempts{...WebhookAttempt}body createdAt deliveredAt event eventId id nextAttemptAt status}';
const webhookEndpoint = 'fragment WebhookEndpoint on WebhookEndpoint{createdAt description enabled events id url}';
const webhookEndpointWithSecret = 'fragment WebhookEndpointWithSecret on WebhookEndpointWithSecret{endpoint{...WebhookEndpoint}secret}';

/** The text of each operation. */
export const documents = {
  account: 'query account($id:ID){account(id:$id){...Account}}' + account + budget + grant,
  node: 'query node($id:ID!){node(id:$id){__typename id}}',
  listMembers: 'query listMembers($accountId:ID){account(id:$accountId){members{...Member}}}' + member,
  listInvitations: 'query listInvitations($accountId:ID){account(id:$accountId){invitations{...Invitation}}}' + invitation,
  inviteMember: 'mutation inviteMember($accountId:ID$email:String!$role:InvitedRole!){inviteMember(accountId:$accountId email:$email role:$role){__typename ...Invitation ...Problem}}' + invitation + problem,
  acceptInvitation: 'mutation acceptInvitation($token:String!){acceptInvitation(token:$token){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  revokeInvitation: 'mutation revokeInvitation($id:ID!){revokeInvitation(id:$id){__typename ...Done ...Problem}}' + done + problem,
  setMemberRole: 'mutation setMemberRole($id:ID!$role:Role!){setMemberRole(id:$id role:$role){__typename ...Done ...Problem}}' + done + problem,
  removeMember: 'mutation removeMember($id:ID!){removeMember(id:$id){__typename ...Done ...Problem}}' + done + problem,
  listNotices: 'query listNotices($accountId:ID){account(id:$accountId){notices{...Notice}}}' + notice,
  noticeSettings: 'query noticeSettings($accountId:ID){account(id:$accountId){noticeSettings{...NoticeSettings}}}' + noticeSettings,
  updateNoticeSettings: 'mutation updateNoticeSettings($input:NoticeSettingsInput!){updateNoticeSettings(input:$input){__typename ...NoticeSettings ...Problem}}' + noticeSettings + problem,
  listAccessTokens: 'query listAccessTokens($accountId:ID$after:String$first:Int){account(id:$accountId){accessTokens(after:$after first:$first){edges{cursor node{...AccessToken}}pageInfo{...PageInfo}}}}' + accessToken + pageInfo,
  createAccessToken: 'mutation createAccessToken($input:CreateAccessTokenInput!){createAccessToken(input:$input){__typename ...CreatedAccessToken ...Problem}}' + accessToken + createdAccessToken + problem,
  deleteAccessToken: 'mutation deleteAccessToken($id:ID!){deleteAccessToken(id:$id){__typename ...Done ...Problem}}' + done + problem,
  models: 'query models{models{...Model}}' + model + modelPriceTier + tokenPrice + unitPrices,
  model: 'query model($modelId:String!){model(modelId:$modelId){...Model}}' + model + modelPriceTier + tokenPrice + unitPrices,
  listKeys: 'query listKeys($accountId:ID$after:String$deleted:Boolean$first:Int){account(id:$accountId){keys(after:$after deleted:$deleted first:$first){edges{cursor node{...ApiKey}}pageInfo{...PageInfo}}}}' + apiKey + keySpend + pageInfo + spendLimits,
  createKey: 'mutation createKey($input:CreateKeyInput!){createKey(input:$input){__typename ...CreatedKey ...Problem}}' + apiKey + createdKey + keySpend + problem + spendLimits,
  updateKey: 'mutation updateKey($input:UpdateKeyInput!){updateKey(input:$input){__typename ...ApiKey ...Problem}}' + apiKey + keySpend + problem + spendLimits,
  rotateKey: 'mutation rotateKey($graceSeconds:Int$id:ID!){rotateKey(graceSeconds:$graceSeconds id:$id){__typename ...CreatedKey ...Problem}}' + apiKey + createdKey + keySpend + problem + spendLimits,
  deleteKey: 'mutation deleteKey($id:ID!){deleteKey(id:$id){__typename ...ApiKey ...Problem}}' + apiKey + keySpend + problem + spendLimits,
  listEntries: 'query listEntries($accountId:ID$after:String$filter:LedgerFilter$first:Int$orderBy:LedgerOrder){account(id:$accountId){ledger(after:$after filter:$filter first:$first orderBy:$orderBy){edges{cursor node{...LedgerEntry}}pageInfo{...PageInfo}}}}' + apiKey + keySpend + ledgerEntry + pageInfo + promptTier + receiptLine + spendLimits + tokens + unitLine,
  entry: 'query entry($accountId:ID$requestId:String!){account(id:$accountId){ledgerEntry(requestId:$requestId){...LedgerEntry}}}' + apiKey + keySpend + ledgerEntry + promptTier + receiptLine + spendLimits + tokens + unitLine,
  usage: 'query usage($accountId:ID$after:String$by:[UsageGroup!]$first:Int$from:DateTime$keyId:ID$model:String$outcomes:[RequestOutcome!]$period:UsagePeriod$timeZone:String$to:DateTime){account(id:$accountId){usage(after:$after by:$by first:$first from:$from keyId:$keyId model:$model outcomes:$outcomes period:$period timeZone:$timeZone to:$to){rows{...UsageRow}next}}}' + tokens + usageRow,
  budget: 'query budget($accountId:ID){account(id:$accountId){budget{...Budget}}}' + budget + grant,
  createLedgerDownload: 'mutation createLedgerDownload($accountId:ID$filter:LedgerFilter){createLedgerDownload(accountId:$accountId filter:$filter){__typename ...Download ...Problem}}' + download + problem,
  budgetChanged: 'subscription budgetChanged($accountId:ID){budgetChanged(accountId:$accountId){...Budget}}' + budget + grant,
  ledgerAppended: 'subscription ledgerAppended($accountId:ID){ledgerAppended(accountId:$accountId){...LedgerEntry}}' + apiKey + keySpend + ledgerEntry + promptTier + receiptLine + spendLimits + tokens + unitLine,
  accountForOperator: 'query accountForOperator($id:ID!){operator{account(id:$id){...Account}}}' + account + budget + grant,
  listAccounts: 'query listAccounts($after:String$first:Int$search:String$status:AccountStatus){operator{accounts(after:$after first:$first search:$search status:$status){edges{cursor node{...Account}}pageInfo{...PageInfo}}}}' + account + budget + grant + pageInfo,
  listAnomalies: 'query listAnomalies($after:String$days:Int$first:Int){operator{anomalies(after:$after days:$days first:$first){...Anomaly}}}' + anomaly,
  listModelMismatches: 'query listModelMismatches($first:Int$open:Boolean){operator{modelMismatches(first:$first open:$open){...ModelMismatch}}}' + modelMismatch,
  closeModelMismatch: 'mutation closeModelMismatch($id:ID!){closeModelMismatch(id:$id){__typename ...ModelMismatch ...Problem}}' + modelMismatch + problem,
  auditLog: 'query auditLog($actor:String$after:String$first:Int$from:DateTime$subject:String$to:DateTime){operator{auditLog(actor:$actor after:$after first:$first from:$from subject:$subject to:$to){edges{cursor node{...AuditEntry}}pageInfo{...PageInfo}}}}' + auditEntry + pageInfo,
  holds: 'query holds($first:Int){operator{holds(first:$first){...Hold}}}' + hold,
  invariants: 'query invariants($accountId:ID!){operator{invariants(accountId:$accountId){...BrokenInvariant}}}' + brokenInvariant,
  catalog: 'query catalog{operator{models{...CatalogEntry}}}' + catalogEntry + priceTier + priceVersion + route + routeCosts + unitPrices,
  margins: 'query margins($accountId:ID$after:String$by:[MarginGroup!]$first:Int$from:DateTime$model:String$period:UsagePeriod$probes:Boolean$timeZone:String$to:DateTime$upstream:String){operator{margins(accountId:$accountId after:$after by:$by first:$first from:$from model:$model period:$period probes:$probes timeZone:$timeZone to:$to upstream:$upstream){rows{...MarginRow}next}}}' + marginRow,
  revenue: 'query revenue($after:String$first:Int$from:DateTime$model:String$period:UsagePeriod$timeZone:String$to:DateTime){operator{revenue(after:$after first:$first from:$from model:$model period:$period timeZone:$timeZone to:$to){rows{...RevenueRow}next}}}' + revenueRow + tokens,
  shortfalls: 'query shortfalls($after:String$days:Int$first:Int){operator{shortfalls(after:$after days:$days first:$first){...Shortfall}}}' + shortfall,
  vendorProfiles: 'query vendorProfiles{operator{vendorProfiles{...VendorProfile}}}' + vendorProfile,
  upstreams: 'query upstreams{operator{upstreams{...Upstream}}}' + priceTier + route + routeCosts + unitPrices + upstream + upstreamHealth + upstreamKey,
  giveGrant: 'mutation giveGrant($input:GiveGrantInput!){giveGrant(input:$input){__typename ...GrantGiven ...Problem}}' + grant + grantGiven + problem,
  endGrant: 'mutation endGrant($input:EndGrantInput!){endGrant(input:$input){__typename ...GrantEnded ...Problem}}' + grant + grantEnded + problem,
  openAccount: 'mutation openAccount($input:OpenAccountInput!){openAccount(input:$input){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  vendors: 'query vendors{operator{vendors{...Vendor}}}' + priceTier + routeCosts + unitPrices + vendor + vendorModel,
  setup: 'query setup{operator{setup{done step}}}',
  testVendorKey: 'mutation testVendorKey($secret:String!$vendorId:String!){testVendorKey(secret:$secret vendorId:$vendorId){__typename ...RouteTest ...Problem}}' + problem + routeTest,
  addVendor: 'mutation addVendor($input:AddVendorInput!){addVendor(input:$input){__typename ...Vendor ...Problem}}' + priceTier + problem + routeCosts + unitPrices + vendor + vendorModel,
  setOperator: 'mutation setOperator($email:String!$operator:Boolean!){setOperator(email:$email operator:$operator){__typename ...on User{id email name}...Problem}}' + problem,
  setAccountStatus: 'mutation setAccountStatus($accountId:ID!$status:AccountStatus!){setAccountStatus(accountId:$accountId status:$status){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  saveModel: 'mutation saveModel($input:SaveModelInput!){saveModel(input:$input){__typename ...CatalogEntry ...Problem}}' + catalogEntry + priceTier + priceVersion + problem + route + routeCosts + unitPrices,
  setModelEnabled: 'mutation setModelEnabled($enabled:Boolean!$modelId:String!){setModelEnabled(enabled:$enabled modelId:$modelId){__typename ...CatalogEntry ...Problem}}' + catalogEntry + priceTier + priceVersion + problem + route + routeCosts + unitPrices,
  setPrices: 'mutation setPrices($input:PricesInput!$modelId:String!$validFrom:DateTime){setPrices(input:$input modelId:$modelId validFrom:$validFrom){__typename ...CatalogEntry ...Problem}}' + catalogEntry + priceTier + priceVersion + problem + route + routeCosts + unitPrices,
  setRoutes: 'mutation setRoutes($modelId:String!$routes:[RouteInput!]!){setRoutes(modelId:$modelId routes:$routes){__typename ...CatalogEntry ...Problem}}' + catalogEntry + priceTier + priceVersion + problem + route + routeCosts + unitPrices,
  testRoute: 'mutation testRoute($id:ID!){testRoute(id:$id){__typename ...RouteTest ...Problem}}' + problem + routeTest,
  saveUpstream: 'mutation saveUpstream($input:SaveUpstreamInput!){saveUpstream(input:$input){__typename ...Upstream ...Problem}}' + priceTier + problem + route + routeCosts + unitPrices + upstream + upstreamHealth + upstreamKey,
  setUpstreamEnabled: 'mutation setUpstreamEnabled($enabled:Boolean!$upstreamId:String!){setUpstreamEnabled(enabled:$enabled upstreamId:$upstreamId){__typename ...Upstream ...Problem}}' + priceTier + problem + route + routeCosts + unitPrices + upstream + upstreamHealth + upstreamKey,
  addUpstreamKey: 'mutation addUpstreamKey($secret:String!$upstreamId:String!){addUpstreamKey(secret:$secret upstreamId:$upstreamId){__typename ...Upstream ...Problem}}' + priceTier + problem + route + routeCosts + unitPrices + upstream + upstreamHealth + upstreamKey,
  deleteUpstreamKey: 'mutation deleteUpstreamKey($keyId:ID!$upstreamId:String!){deleteUpstreamKey(keyId:$keyId upstreamId:$upstreamId){__typename ...Upstream ...Problem}}' + priceTier + problem + route + routeCosts + unitPrices + upstream + upstreamHealth + upstreamKey,
  searchOrders: 'query searchOrders($after:String$first:Int$memo:String$search:String$status:OrderStatus){orders(after:$after first:$first memo:$memo search:$search status:$status){edges{cursor node{...Order}}pageInfo{...PageInfo}}}' + bankAccount + order + orderPayment + pageInfo + paymentInstructions,
  listBankTransfers: 'query listBankTransfers($after:String$first:Int$queue:Boolean){bankTransfers(after:$after first:$first queue:$queue){edges{cursor node{...BankTransfer}}pageInfo{...PageInfo}}}' + bankTransfer + pageInfo + transferReview,
  findOrdersToMatch: 'query findOrdersToMatch($after:String$first:Int$search:String$status:OrderStatus){orders(after:$after first:$first search:$search status:$status){edges{cursor node{...MatchableOrder}}pageInfo{...PageInfo}}}' + matchableOrder + pageInfo,
  transferProposals: 'query transferProposals($transferId:ID!){node(id:$transferId){__typename ...on BankTransfer{id proposals{...TransferProposal}}}}' + matchableOrder + transferProposal,
  undoTransferMatch: 'mutation undoTransferMatch($transferId:ID!){undoTransferMatch(transferId:$transferId){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  creditTransfer: 'mutation creditTransfer($accountId:ID!$planId:String!$transferId:ID!){creditTransfer(accountId:$accountId planId:$planId transferId:$transferId){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  matchTransfer: 'mutation matchTransfer($orderId:ID!$transferId:ID!){matchTransfer(orderId:$orderId transferId:$transferId){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  recordTransfer: 'mutation recordTransfer($input:RecordTransferInput!){recordTransfer(input:$input){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  closeTransferReview: 'mutation closeTransferReview($note:String!$transferId:ID!){closeTransferReview(note:$note transferId:$transferId){__typename ...BankTransfer ...Problem}}' + bankTransfer + problem + transferReview,
  savePlan: 'mutation savePlan($input:SavePlanInput!){savePlan(input:$input){__typename ...Plan ...Problem}}' + plan + problem,
  probing: 'query probing{operator{probeAgents{...ProbeAgent}probing{...Probing}}}' + modelProbing + probeAgent + probing,
  createProbeAgent: 'mutation createProbeAgent($input:CreateProbeAgentInput!){createProbeAgent(input:$input){__typename ...on CreatedProbeAgent{probeAgent{...ProbeAgent}token}...Problem}}' + probeAgent + problem,
  revokeProbeAgent: 'mutation revokeProbeAgent($id:ID!){revokeProbeAgent(id:$id){__typename ...ProbeAgent ...Problem}}' + probeAgent + problem,
  saveProbing: 'mutation saveProbing($input:SaveProbingInput!){saveProbing(input:$input){__typename ...Probing ...Problem}}' + modelProbing + probing + problem,
  addStatusUpdate: 'mutation addStatusUpdate($input:AddStatusUpdateInput!){addStatusUpdate(input:$input){__typename ...Problem ...StatusUpdate}}' + problem + statusUpdate,
  announce: 'mutation announce($input:AnnounceInput!){announce(input:$input){__typename ...Announcement ...Problem}}' + announcement + problem + statusUpdate,
  endAnnouncement: 'mutation endAnnouncement($id:ID!){endAnnouncement(id:$id){__typename ...Announcement ...Problem}}' + announcement + problem + statusUpdate,
  accountOverview: 'query accountOverview($id:ID!){operator{account(id:$id){members{...Member}keys(deleted:true first:100){edges{node{...ApiKey}}}orders(first:20){edges{node{budget createdAt id memo planName priceVnd status}}}}}}' + apiKey + keySpend + member + spendLimits,
  accountEntries: 'query accountEntries($after:String$filter:LedgerFilter$first:Int$id:ID!){operator{account(id:$id){ledger(after:$after filter:$filter first:$first){edges{cursor node{...LedgerEntry}}pageInfo{...PageInfo}}}}}' + apiKey + keySpend + ledgerEntry + pageInfo + promptTier + receiptLine + spendLimits + tokens + unitLine,
  business: 'query business($timeZone:String){operator{business(timeZone:$timeZone){failingUpstreams{health{...UpstreamHealth}id upstreamId}modelMismatches newAccounts openIncidents vndThisMonth vndToday waitingSince waitingTransfers}}}' + upstreamHealth,
  search: 'query search($text:String!){operator{search(text:$text){accountId detail id kind title}}}',
  saveSeller: 'mutation saveSeller($input:SellerInput!){saveSeller(input:$input){__typename ...Seller ...Problem}}' + problem + seller,
  shop: 'query shop{shop{open demonstration}}',
  plans: 'query plans($all:Boolean){plans(all:$all){...Plan}}' + plan,
  order: 'query order($id:ID!){order(id:$id){...Order}}' + bankAccount + order + orderPayment + paymentInstructions,
  receipt: 'query receipt($orderId:ID!){receipt(orderId:$orderId){...Receipt}}' + orderPayment + receipt,
  listOrders: 'query listOrders($accountId:ID$after:String$first:Int){account(id:$accountId){orders(after:$after first:$first){edges{cursor node{...Order}}pageInfo{...PageInfo}}}}' + bankAccount + order + orderPayment + pageInfo + paymentInstructions,
  createOrder: 'mutation createOrder($input:CreateOrderInput!){createOrder(input:$input){__typename ...Order ...Problem}}' + bankAccount + order + orderPayment + paymentInstructions + problem,
  cancelOrder: 'mutation cancelOrder($id:ID!){cancelOrder(id:$id){__typename ...Order ...Problem}}' + bankAccount + order + orderPayment + paymentInstructions + problem,
  orderStatus: 'subscription orderStatus($id:ID!){orderStatus(id:$id){...Order}}' + bankAccount + order + orderPayment + paymentInstructions,
  seller: 'query seller{seller{...Seller}}' + seller,
  company: 'query company($accountId:ID){account(id:$accountId){company{address name taxCode}id}}',
  saveCompany: 'mutation saveCompany($accountId:ID!$input:CompanyInput){saveCompany(accountId:$accountId input:$input){__typename ...on Account{company{address name taxCode}id}...Problem}}' + problem,
  me: 'query me{me{...Viewer}}' + session + user + viewer,
  signUp: 'mutation signUp($input:SignUpInput!){signUp(input:$input){__typename ...Done ...Problem}}' + done + problem,
  resendVerification: 'mutation resendVerification($email:String!){resendVerification(email:$email){__typename ...Done ...Problem}}' + done + problem,
  verifyEmail: 'mutation verifyEmail($token:String!){verifyEmail(token:$token){__typename ...Done ...Problem}}' + done + problem,
  signIn: 'mutation signIn($email:String!$password:String!){signIn(email:$email password:$password){__typename ...SignedIn ...Problem}}' + problem + signedIn,
  signInWithCode: 'mutation signInWithCode($backup:Boolean$code:String!){signInWithCode(backup:$backup code:$code){__typename ...SignedIn ...Problem}}' + problem + signedIn,
  signOut: 'mutation signOut{signOut{...Done}}' + done,
  requestPasswordReset: 'mutation requestPasswordReset($email:String!){requestPasswordReset(email:$email){__typename ...Done ...Problem}}' + done + problem,
  resetPassword: 'mutation resetPassword($newPassword:String!$token:String!){resetPassword(newPassword:$newPassword token:$token){__typename ...Done ...Problem}}' + done + problem,
  changePassword: 'mutation changePassword($currentPassword:String!$newPassword:String!){changePassword(currentPassword:$currentPassword newPassword:$newPassword){__typename ...Done ...Problem}}' + done + problem,
  changeEmail: 'mutation changeEmail($newEmail:String!$password:String!){changeEmail(newEmail:$newEmail password:$password){__typename ...Done ...Problem}}' + done + problem,
  updateProfile: 'mutation updateProfile($locale:String$name:String){updateProfile(locale:$locale name:$name){__typename ...User ...Problem}}' + problem + user,
  beginSecondFactor: 'mutation beginSecondFactor($password:String!){beginSecondFactor(password:$password){__typename ...SecondFactorSetup ...Problem}}' + problem + secondFactorSetup,
  confirmSecondFactor: 'mutation confirmSecondFactor($code:String!){confirmSecondFactor(code:$code){__typename ...Done ...Problem}}' + done + problem,
  disableSecondFactor: 'mutation disableSecondFactor($code:String!$password:String!){disableSecondFactor(code:$code password:$password){__typename ...Done ...Problem}}' + done + problem,
  renewBackupCodes: 'mutation renewBackupCodes($password:String!){renewBackupCodes(password:$password){__typename ...BackupCodes ...Problem}}' + backupCodes + problem,
  revokeSession: 'mutation revokeSession($id:ID!){revokeSession(id:$id){__typename ...Done ...Problem}}' + done + problem,
  revokeOtherSessions: 'mutation revokeOtherSessions{revokeOtherSessions}',
  serviceStatus: 'query serviceStatus{status{...ServiceStatus}}' + announcement + incident + modelStatus + probedWay + requestShare + serviceAbsence + serviceStatus + statusUpdate + uptime + uptimeDay + uptimeObserver,
  uptime: 'query uptime($by:UptimeUnit!$from:DateTime!$mode:ProbeMode$modelId:String!$protocol:Protocol$to:DateTime!){uptime(by:$by from:$from mode:$mode modelId:$modelId protocol:$protocol to:$to){...UptimePoint}}' + uptime + uptimePoint,
  listIncidents: 'query listIncidents($after:String$first:Int$modelId:String){incidents(after:$after first:$first modelId:$modelId){edges{cursor node{...Incident}}pageInfo{...PageInfo}}}' + incident + pageInfo + statusUpdate,
  webhookEvents: 'query webhookEvents{webhookEvents}',
  listEndpoints: 'query listEndpoints($accountId:ID){account(id:$accountId){webhookEndpoints{...WebhookEndpoint}}}' + webhookEndpoint,
  createWebhookEndpoint: 'mutation createWebhookEndpoint($input:CreateWebhookEndpointInput!){createWebhookEndpoint(input:$input){__typename ...WebhookEndpointWithSecret ...Problem}}' + problem + webhookEndpoint + webhookEndpointWithSecret,
  updateWebhookEndpoint: 'mutation updateWebhookEndpoint($input:UpdateWebhookEndpointInput!){updateWebhookEndpoint(input:$input){__typename ...WebhookEndpoint ...Problem}}' + problem + webhookEndpoint,
  deleteWebhookEndpoint: 'mutation deleteWebhookEndpoint($id:ID!){deleteWebhookEndpoint(id:$id){__typename ...WebhookEndpoint ...Problem}}' + problem + webhookEndpoint,
  rotateWebhookSecret: 'mutation rotateWebhookSecret($id:ID!){rotateWebhookSecret(id:$id){__typename ...WebhookEndpointWithSecret ...Problem}}' + problem + webhookEndpoint + webhookEndpointWithSecret,
  sendTestWebhook: 'mutation sendTestWebhook($id:ID!){sendTestWebhook(id:$id){__typename ...WebhookDelivery ...Problem}}' + problem + webhookAttempt + webhookDelivery,
  replayWebhookDelivery: 'mutation replayWebhookDelivery($id:ID!){replayWebhookDelivery(id:$id){__typename ...WebhookDelivery ...Problem}}' + problem + webhookAttempt + webhookDelivery,
  listDeliveries: 'query listDeliveries($id:ID!$after:String$first:Int){node(id:$id){...on WebhookEndpoint{deliveries(after:$after first:$first){edges{cursor node{...WebhookDelivery}}pageInfo{...PageInfo}}}}}' + pageInfo + webhookAttempt + webhookDelivery,
} as const;
