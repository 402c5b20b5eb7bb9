// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

const accessToken = 'fragment AccessToken on AccessToken{createdAt deletedAt expiresAt id last4 lastUsedAt name prefix scopes}';
const account = 'fragment Account on Account{budget{...Budget}createdAt email id name status}';
const accountLimits = 'fragment AccountLimits on AccountLimits{addresses maxConcurrent requestsPerMinute tokensPerMinute spend{...SpendLimits}spent{...Spend}timeZone}';
const announcement = 'fragment Announcement on Announcement{body bodyVi endsAt id kind modelIds startsAt title titleVi updates{...StatusUpdate}}';
const apiKey = 'fragment ApiKey on ApiKey{addresses maxConcurrent tokensPerMinute burnLimit{...BurnLimit}createdAt deletedAt expiresAt id last4 lastUsedAt limits{...SpendLimits}maker{isMember name}models name owner prefix project{...Project}replaces requestsPerMinute spend{...Spend}status}';
const attributedUsage = 'fragment AttributedUsage on AttributedUsage{charged cost firstAt label lastAt model requests tokens{...Tokens}}';
const backupCodes = 'fragment BackupCodes on BackupCodes{backupCodes}';
const bankAccount = 'fragment BankAccount on BankAccount{account bank bin name demonstration}';
const batch = 'fragment Batch on Batch{bound cancelAt canceled charged createdAt endedAt endpoint errored expired expiresAt form held id key{id name}lines models name settledAt state succeeded}';
const bonusStep = 'fragment BonusStep on BonusStep{basisPoints fromVnd}';
const budget = 'fragment Budget on Budget{charged expired free granted grants{...Grant}held}';
const burnLimit = 'fragment BurnLimit on BurnLimit{amount minutes}';
const createdAccessToken = 'fragment CreatedAccessToken on CreatedAccessToken{accessToken{...AccessToken}secret}';
const creditNote = 'fragment CreditNote on CreditNote{amountVnd bonus budget issuedAt kind number sentVnd undoneAt url}';
const done = 'fragment Done on Done{id member{...Member}ok}';
const download = 'fragment Download on Download{expiresAt url}';
const estimate = 'fragment Estimate on Estimate{bound{count isWindow kind tokens}hold inputTokens least model most}';
const grant = 'fragment Grant on Grant{amount createdAt expired expiresAt free held id kind reason spent}';
const identity = 'fragment Identity on Identity{id lastUsedAt linkedAt name provider}';
const imagePrices = 'fragment ImagePrices on ImagePrices{tokens{input cacheHit output}each{quality size upToPixels price}}';
const incident = 'fragment Incident on Incident{affectedWays{mode protocol}cause endedAt id impact modelId startedAt updates{...StatusUpdate}}';
const invitation = 'fragment Invitation on Invitation{createdAt email expiresAt id role}';
const ledgerEntry = 'fragment LedgerEntry on LedgerEntry{attribution{...RequestAttribution}charged cost createdAt freeAfter id key{...ApiKey}latencyMs operator{margin upstream upstreamCost}lines{...RunLine}model outcome protocol receipt{...ReceiptLine}requestId stream clock{...PriceMoment}variant{...PriceVariantChoice}tier{...PromptTier}timeToFirstByteMs units{...UnitLine}usage{...Tokens}usageSource}';
const member = 'fragment Member on Member{createdAt email id name role}';
const memberSpend = 'fragment MemberSpend on MemberSpend{held isMember keys lifetime memberId monthlyBudget months{...MonthSpend}name personalKeys thisMonth}';
const model = 'fragment Model on Model{agentStepsFor5Usd capabilities modelCapabilities reasoningEfforts contextWindow displayName family id kind markedAgentStepsFor5Usd maxOutputTokens maxPromptTokens modelId nativeProtocols pricedSince prices{...Prices ...PricesInVnd}protocols simulated}';
const modelState = 'fragment ModelState on ModelStatus{displayName everyMinutes last7Days{...Uptime}last24Hours{...Uptime}last30Days{...Uptime}last90Days{...Uptime}measuredSince modelId requests{...RequestShare}requestsSucceeded simulated state ways{...ProbedWay}}';
const modelStatus = 'fragment ModelStatus on ModelStatus{days{...UptimePoint}...ModelState}';
const monthSpend = 'fragment MonthSpend on MonthSpend{charged month}';
const newApiKey = 'fragment NewApiKey on NewApiKey{key{...ApiKey}secret}';
const notice = 'fragment Notice on Notice{clearedAt createdAt deliveries{channel deliveredAt held nextAttemptAt problem state}facts id kind mailed}';
const noticeChannel = 'fragment NoticeChannel on NoticeChannel{createdAt deliveredAt enabled id kind kinds language name problem target}';
const noticeSettings = 'fragment NoticeSettings on NoticeSettings{burnAmount burnMinutes keyPercent lowBalance mail muted quietFrom quietTo timeZone}';
const order = 'fragment Order on Order{account{email name}bonus budget createdAt creditNotes{...CreditNote}expiresAt freeAmount giftTo id invoice{...OrderInvoice}memo paidAt payment{...PaymentInstructions}payments{...OrderPayment}plan{planId}planName priceVnd receiptUrl receivedVnd status upgradedOrder{id}validDays}';
const orderInvoice = 'fragment OrderInvoice on OrderInvoice{fileUrl issuedAt nextAt number problem state url}';
const orderPayment = 'fragment OrderPayment on OrderPayment{amountVnd bankReference bookedAt}';
const pageInfo = 'fragment PageInfo on PageInfo{endCursor hasNextPage hasPreviousPage startCursor}';
const passkey = 'fragment Passkey on Passkey{backedUp createdAt id lastUsedAt name}';
const passkeyOptions = 'fragment PasskeyOptions on PasskeyOptions{json}';
const paymentInstructions = 'fragment PaymentInstructions on PaymentInstructions{amountVnd bank{...BankAccount}memo qrPayload qrPng qrSvg}';
const plan = 'fragment Plan on Plan{budget id name onSale planId priceVnd validDays vndPerUsd}';
const priceClock = 'fragment PriceClock on PriceClock{exceptDates timeZone windows{...PriceWindow}}';
const priceHours = 'fragment PriceHours on PriceHours{weekdays period timeZone}';
const priceMoment = 'fragment PriceMoment on PriceMoment{pricedAt window{...PriceHours}}';
const priceTier = 'fragment PriceTier on PriceTier{abovePromptTokens cacheHit cacheWrite1h cacheWrite5m input output}';
const priceTierInVnd = 'fragment PriceTierInVnd on PriceTier{vndAtBest{...VndPrices}vndAtStarter{...VndPrices}}';
const priceVariant = 'fragment PriceVariant on PriceVariant{cacheHit cacheWrite1h cacheWrite5m input name output tiers{...PriceTier}}';
const priceVariantChoice = 'fragment PriceVariantChoice on PriceVariantChoice{asked counted served}';
const priceWindow = 'fragment PriceWindow on PriceWindow{cacheHit cacheWrite1h cacheWrite5m weekdays hours input output tiers{...PriceTier}}';
const prices = 'fragment Prices on Prices{cacheHit cacheWrite1h cacheWrite5m clock{...PriceClock}images{...ImagePrices}input output perUnit{...UnitPrices}tiers{...PriceTier}variants{...PriceVariant}}';
const pricesInVnd = 'fragment PricesInVnd on Prices{clock{windows{tiers{...PriceTierInVnd}vndAtBest{...VndPrices}vndAtStarter{...VndPrices}}}tiers{...PriceTierInVnd}vndAtBest{...VndPrices}vndAtStarter{...VndPrices}variants{tiers{...PriceTierInVnd}vndAtBest{...VndPrices}vndAtStarter{...VndPrices}}}';
const probedWay = 'fragment ProbedWay on ProbedWay{checkedAt latencyMs mode outcome protocol reason timeToFirstByteMs}';
const problem = 'fragment Problem on Error{code message ...on BusyError{retryAfterSeconds}...on InputError{problems{message path}}...on TooManyAttemptsError{retryAfterSeconds}}';
const project = 'fragment Project on Project{archivedAt createdAt id name}';
const projectSpend = 'fragment ProjectSpend on ProjectSpend{held keys lifetime limits{lifetime month}thisMonth}';
const promptTier = 'fragment PromptTier on PromptTier{abovePromptTokens upToPromptTokens}';
const receiptLine = 'fragment ReceiptLine on ReceiptLine{amount tokenPool pricePerMillion tokens}';
const requestAttribution = 'fragment RequestAttribution on RequestAttribution{session tags user}';
const requestShare = 'fragment RequestShare on RequestShare{count protocol succeeded}';
const runLine = 'fragment RunLine on RunLine{amount model receipt{...ReceiptLine}}';
const secondFactorSetup = 'fragment SecondFactorSetup on SecondFactorSetup{backupCodes uri}';
const seller = 'fragment Seller on Seller{address name privacyUrl refundUrl supportEmail supportPhone taxCode termsUrl}';
const serviceAbsence = 'fragment ServiceAbsence on ServiceAbsence{from to}';
const serviceStatus = 'fragment ServiceStatus on ServiceStatus{absences{...ServiceAbsence}announcements{...Announcement}generatedAt incidents{...Incident}measuredSince models{...ModelStatus}observers{...UptimeObserver}state}';
const session = 'fragment Session on Session{createdAt current device expiresAt id ipAddress lastUsedAt passkey userAgent}';
const signedIn = 'fragment SignedIn on SignedIn{secondFactorRequired}';
const spend = 'fragment Spend on Spend{held lifetime thisMonth thisWeek today}';
const spendLimits = 'fragment SpendLimits on SpendLimits{day lifetime month week}';
const statement = 'fragment Statement on Statement{charged closing digest expired granted month opening takenBack url}';
const statusUpdate = 'fragment StatusUpdate on StatusUpdate{body bodyVi createdAt id state}';
const tokens = 'fragment Tokens on Tokens{cacheHit cacheWrite1h cacheWrite5m input output}';
const topUp = 'fragment TopUp on TopUp{maxVnd minVnd plan{...Plan}}';
const unitLine = 'fragment UnitLine on UnitLine{amount count price chargedUnit}';
const unitPrices = 'fragment UnitPrices on UnitPrices{image minute search}';
const uptime = 'fragment Uptime on Uptime{down latencyMs maintenance noData ratio up}';
const uptimeObserver = 'fragment UptimeObserver on UptimeObserver{agent measuredAt name region}';
const uptimePoint = 'fragment UptimePoint on UptimePoint{at uptime{...Uptime}}';
const usageRow = 'fragment UsageRow on UsageRow{charged cost failures isRest key{deletedAt id last4 name}maker{memberId name}model outcome project{...Project}requests start tokens{...Tokens}}';
const user = 'fragment User on User{createdAt email emailVerified hasPassword id language name operator secondFactor}';
const viewer = 'fragment Viewer on Viewer{accounts{id name status}operator{allowedMutations role}scopes sessions{...Session}user{...User}viewUntil}';
const vndPrices = 'fragment VndPrices on VndPrices{cacheHit cacheWrite1h cacheWrite5m input output}';
const webhookAttempt = 'fragment WebhookAttempt on WebhookAttempt{createdAt durationMs problem status}';
const webhookDelivery = 'fragment WebhookDelivery on WebhookDelivery{attempts{...WebhookAttempt}body createdAt deliveredAt event eventId id nextAttemptAt status}';
const webhookEndpoint = 'fragment WebhookEndpoint on WebhookEndpoint{createdAt description enabled events id url}';
const webhookEndpointWithSecret = 'fragment WebhookEndpointWithSecret on WebhookEndpointWithSecret{endpoint{...WebhookEndpoint}secret}';

/** The text of each operation. */
export const documents: Record<string, string> = {
  account: 'query account($id:ID){account(id:$id){...Account}}' + account + budget + grant,
  accountLimits: 'query accountLimits($id:ID){account(id:$id){limits{...AccountLimits}}}' + accountLimits + spend + spendLimits,
  setAccountLimits: 'mutation setAccountLimits($input:AccountLimitsInput!){setAccountLimits(input:$input){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  attributionMode: 'query attributionMode($id:ID){account(id:$id){attributionMode}}',
  setAttributionMode: 'mutation setAttributionMode($input:SetAttributionModeInput!){setAttributionMode(input:$input){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  node: 'query node($id:ID!){node(id:$id){__typename id}}',
  listMembers: 'query listMembers($accountId:ID){account(id:$accountId){members{...Member}}}' + member,
  listInvitations: 'query listInvitations($accountId:ID){account(id:$accountId){invitations{...Invitation}}}' + invitation,
  inviteMember: 'mutation inviteMember($accountId:ID$email:String!$role:InvitedRole!){inviteMember(input:{accountId:$accountId email:$email role:$role}){__typename ...Invitation ...Problem}}' + invitation + problem,
  acceptInvitation: 'mutation acceptInvitation($token:String!){acceptInvitation(token:$token){__typename ...Account ...Problem}}' + account + budget + grant + problem,
  revokeInvitation: 'mutation revokeInvitation($id:ID!){revokeInvitation(id:$id){__typename ...Done ...Problem}}' + done + member + problem,
  setMemberRole: 'mutation setMemberRole($id:ID!$role:Role!){setMemberRole(input:{id:$id role:$role}){__typename ...Done ...Problem}}' + done + member + problem,
  removeMember: 'mutation removeMember($id:ID!$keys:LeftKeys){removeMember(input:{id:$id keys:$keys}){__typename ...Done ...Problem ...on KeysUndecidedError{keys{createdAt id last4 name}}}}' + done + member + problem,
  listNotices: 'query listNotices($accountId:ID$after:String$first:Int){account(id:$accountId){notices(after:$after first:$first){nodes{...Notice}pageInfo{...PageInfo}}}}' + notice + pageInfo,
  noticeSettings: 'query noticeSettings($accountId:ID){account(id:$accountId){noticeSettings{...NoticeSettings}}}' + noticeSettings,
  updateNoticeSettings: 'mutation updateNoticeSettings($input:NoticeSettingsInput!){updateNoticeSettings(input:$input){__typename ...NoticeSettings ...Problem}}' + noticeSettings + problem,
  listNoticeChannels: 'query listNoticeChannels($accountId:ID){account(id:$accountId){noticeChannels{...NoticeChannel}}}' + noticeChannel,
  createNoticeChannel: 'mutation createNoticeChannel($input:CreateNoticeChannelInput!){createNoticeChannel(input:$input){__typename ...on CreatedNoticeChannel{channel{...NoticeChannel}signing}...Problem}}' + noticeChannel + problem,
  updateNoticeChannel: 'mutation updateNoticeChannel($input:UpdateNoticeChannelInput!){updateNoticeChannel(input:$input){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  deleteNoticeChannel: 'mutation deleteNoticeChannel($id:ID!){deleteNoticeChannel(id:$id){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  testNoticeChannel: 'mutation testNoticeChannel($id:ID!){testNoticeChannel(id:$id){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  listAccessTokens: 'query listAccessTokens($accountId:ID$after:String$first:Int){account(id:$accountId){accessTokens(after:$after first:$first){edges{cursor node{...AccessToken}}pageInfo{...PageInfo}totalCount}}}' + accessToken + pageInfo,
  createAccessToken: 'mutation createAccessToken($input:CreateAccessTokenInput!){createAccessToken(input:$input){__typename ...CreatedAccessToken ...Problem}}' + accessToken + createdAccessToken + problem,
  revokeAccessToken: 'mutation revokeAccessToken($id:ID!){revokeAccessToken(id:$id){__typename ...AccessToken ...Problem}}' + accessToken + problem,
  createAccountExport: 'mutation createAccountExport($accountId:ID){createAccountExport(accountId:$accountId){__typename ...on Download{expiresAt url}...Problem}}' + problem,
  eraseAccount: 'mutation eraseAccount($accountId:ID!$code:String$email:String!$password:String){eraseAccount(input:{accountId:$accountId code:$code email:$email password:$password}){__typename ...on AccountErased{people proofUrl}...Problem}}' + problem,
  operatorViews: 'query operatorViews($accountId:ID$after:String$first:Int){account(id:$accountId){operatorViews(after:$after first:$first){nodes{at until}pageInfo{...PageInfo}}}}' + pageInfo,
  models: 'query models{models{...Model}}' + imagePrices + model + priceClock + priceTier + priceTierInVnd + priceVariant + priceWindow + prices + pricesInVnd + unitPrices + vndPrices,
  model: 'query model($modelId:String!){model(modelId:$modelId){...Model}}' + imagePrices + model + priceClock + priceTier + priceTierInVnd + priceVariant + priceWindow + prices + pricesInVnd + unitPrices + vndPrices,
  listKeys: 'query listKeys($accountId:ID$active:Boolean$after:String$deleted:Boolean$first:Int$search:String){account(id:$accountId){keys(active:$active after:$after deleted:$deleted first:$first search:$search){edges{cursor node{...ApiKey}}pageInfo{...PageInfo}totalCount}}}' + apiKey + burnLimit + pageInfo + project + spend + spendLimits,
  findKey: 'query findKey($id:ID!){node(id:$id){__typename ...on ApiKey{...ApiKey}}}' + apiKey + burnLimit + project + spend + spendLimits,
  createKey: 'mutation createKey($input:CreateKeyInput!){createKey(input:$input){__typename ...NewApiKey ...on KeyCreatedBeforeError{key{...ApiKey}}...Problem}}' + apiKey + burnLimit + newApiKey + problem + project + spend + spendLimits,
  updateKey: 'mutation updateKey($input:UpdateKeyInput!){updateKey(input:$input){__typename ...ApiKey ...Problem}}' + apiKey + burnLimit + problem + project + spend + spendLimits,
  rotateKey: 'mutation rotateKey($graceSeconds:Int$id:ID!){rotateKey(input:{graceSeconds:$graceSeconds id:$id}){__typename ...NewApiKey ...Problem}}' + apiKey + burnLimit + newApiKey + problem + project + spend + spendLimits,
  deleteKey: 'mutation deleteKey($id:ID!){deleteKey(id:$id){__typename ...ApiKey ...Problem}}' + apiKey + burnLimit + problem + project + spend + spendLimits,
  listProjects: 'query listProjects($accountId:ID$archived:Boolean){account(id:$accountId){projects(archived:$archived){...Project spend{...ProjectSpend}}}}' + project + projectSpend,
  project: 'query project($id:ID!$months:Int){node(id:$id){__typename ...on Project{...Project months(count:$months){...MonthSpend}spend{...ProjectSpend}}}}' + monthSpend + project + projectSpend,
  memberSpend: 'query memberSpend($accountId:ID$months:Int){account(id:$accountId){memberSpend(months:$months){...MemberSpend}}}' + memberSpend + monthSpend,
  setMemberBudget: 'mutation setMemberBudget($input:SetMemberBudgetInput!){setMemberBudget(input:$input){__typename ...MemberSpend ...Problem}}' + memberSpend + monthSpend + problem,
  createProject: 'mutation createProject($input:CreateProjectInput!){createProject(input:$input){__typename ...Project ...Problem}}' + problem + project,
  updateProject: 'mutation updateProject($input:UpdateProjectInput!){updateProject(input:$input){__typename ...Project ...Problem}}' + problem + project,
  estimate: 'query estimate($body:String!$format:EstimateFormat!$keyId:ID!){estimate(body:$body format:$format keyId:$keyId){__typename ...Estimate ...Problem ...on RequestRefusedError{param reason status}}}' + estimate + problem,
  listEntries: 'query listEntries($accountId:ID$after:String$filter:LedgerFilter$first:Int$orderBy:LedgerOrder){account(id:$accountId){ledger(after:$after filter:$filter first:$first orderBy:$orderBy){edges{cursor node{...LedgerEntry}}pageInfo{...PageInfo}}}}' + apiKey + burnLimit + ledgerEntry + pageInfo + priceHours + priceMoment + priceVariantChoice + project + promptTier + receiptLine + requestAttribution + runLine + spend + spendLimits + tokens + unitLine,
  entry: 'query entry($accountId:ID$requestId:String!){account(id:$accountId){ledgerEntry(requestId:$requestId){...LedgerEntry}}}' + apiKey + burnLimit + ledgerEntry + priceHours + priceMoment + priceVariantChoice + project + promptTier + receiptLine + requestAttribution + runLine + spend + spendLimits + tokens + unitLine,
  usage: 'query usage($accountId:ID$after:String$by:[UsageGroup!]$first:Int$from:DateTime$keyId:ID$model:String$most:Int$order:UsageOrder$outcomes:[RequestOutcome!]$period:UsagePeriod$timeZone:String$to:DateTime){account(id:$accountId){usage(after:$after by:$by first:$first from:$from keyId:$keyId model:$model most:$most order:$order outcomes:$outcomes period:$period timeZone:$timeZone to:$to){nodes{...UsageRow}pageInfo{...PageInfo}}}}' + pageInfo + project + tokens + usageRow,
  latency: 'query latency($accountId:ID$from:DateTime!$keyId:ID$model:String$period:HourOrDay!$timeZone:String$to:DateTime){account(id:$accountId){latency(from:$from keyId:$keyId model:$model period:$period timeZone:$timeZone to:$to){firstByteP50Ms firstByteP95Ms latencyP50Ms latencyP95Ms requests start}}}',
  attributedUsage: 'query attributedUsage($accountId:ID$after:String$by:AttributionKind!$byModel:Boolean$first:Int$from:DateTime$model:String$only:String$order:UsageOrder$to:DateTime){account(id:$accountId){attributedUsage(after:$after by:$by byModel:$byModel first:$first from:$from model:$model only:$only order:$order to:$to){nodes{...AttributedUsage}pageInfo{...PageInfo}}}}' + attributedUsage + pageInfo + tokens,
  budget: 'query budget($accountId:ID){account(id:$accountId){budget{...Budget}}}' + budget + grant,
  cacheSavings: 'query cacheSavings($accountId:ID$from:DateTime!){account(id:$accountId){cacheSavings(from:$from)}}',
  createLedgerDownload: 'mutation createLedgerDownload($accountId:ID$filter:LedgerFilter){createLedgerDownload(input:{accountId:$accountId filter:$filter}){__typename ...Download ...Problem}}' + download + problem,
  budgetChanged: 'subscription budgetChanged($accountId:ID){budgetChanged(accountId:$accountId){...Budget}}' + budget + grant,
  ledgerAppended: 'subscription ledgerAppended($accountId:ID){ledgerAppended(accountId:$accountId){...LedgerEntry}}' + apiKey + burnLimit + ledgerEntry + priceHours + priceMoment + priceVariantChoice + project + promptTier + receiptLine + requestAttribution + runLine + spend + spendLimits + tokens + unitLine,
  archivedMonths: 'query archivedMonths($accountId:ID$from:DateTime$to:DateTime){account(id:$accountId){archivedMonths(from:$from to:$to){archivedAt from inDownloads month to}}}',
  listBatches: 'query listBatches($accountId:ID$after:String$first:Int){account(id:$accountId){batches(after:$after first:$first){edges{cursor node{...Batch}}pageInfo{...PageInfo}}}}' + batch + pageInfo,
  findBatch: 'query findBatch($id:ID!){node(id:$id){__typename ...on Batch{...Batch}}}' + batch,
  cancelBatch: 'mutation cancelBatch($id:ID!){cancelBatch(id:$id){__typename ...Batch ...Problem}}' + batch + problem,
  shop: 'query shop{shop{open demonstration}}',
  plans: 'query plans{plans{...Plan}}' + plan,
  order: 'query order($id:ID!){order(id:$id){...Order}}' + bankAccount + creditNote + order + orderInvoice + orderPayment + paymentInstructions,
  listOrders: 'query listOrders($accountId:ID$after:String$first:Int){account(id:$accountId){orders(after:$after first:$first){edges{cursor node{...Order}}pageInfo{...PageInfo}totalCount}}}' + bankAccount + creditNote + order + orderInvoice + orderPayment + pageInfo + paymentInstructions,
  createOrder: 'mutation createOrder($input:CreateOrderInput!){createOrder(input:$input){__typename ...Order ...Problem}}' + bankAccount + creditNote + order + orderInvoice + orderPayment + paymentInstructions + problem,
  cancelOrder: 'mutation cancelOrder($id:ID!){cancelOrder(id:$id){__typename ...Order ...Problem}}' + bankAccount + creditNote + order + orderInvoice + orderPayment + paymentInstructions + problem,
  orderStatus: 'subscription orderStatus($id:ID!){orderStatus(id:$id){...Order}}' + bankAccount + creditNote + order + orderInvoice + orderPayment + paymentInstructions,
  seller: 'query seller{seller{...Seller}}' + seller,
  company: 'query company($accountId:ID){account(id:$accountId){company{address name taxCode}id}}',
  setCompany: 'mutation setCompany($accountId:ID!$input:CompanyInput){setCompany(input:{accountId:$accountId company:$input}){__typename ...on Account{company{address name taxCode}id}...Problem}}' + problem,
  statements: 'query statements($accountId:ID$first:Int){account(id:$accountId){id statements(first:$first){...Statement}}}' + statement,
  statement: 'query statement($accountId:ID$month:String!){account(id:$accountId){id statement(month:$month){...Statement}}}' + statement,
  bonusSteps: 'query bonusSteps{bonusSteps{...BonusStep}}' + bonusStep,
  topUp: 'query topUp{topUp{...TopUp}}' + plan + topUp,
  redeemCode: 'mutation redeemCode($accountId:ID$code:String!){redeemCode(input:{accountId:$accountId code:$code}){__typename ...on CodeRedeemed{again amount grantId}...Problem}}' + problem,
  me: 'query me{me{...Viewer}}' + session + user + viewer,
  signInMethods: 'query signInMethods{signInMethods{passkeys passwords providers{id name}}}',
  signUp: 'mutation signUp($input:SignUpInput!){signUp(input:$input){__typename ...Done ...Problem}}' + done + member + problem,
  resendVerification: 'mutation resendVerification($email:String!){resendVerification(email:$email){__typename ...Done ...Problem}}' + done + member + problem,
  verifyEmail: 'mutation verifyEmail($token:String!){verifyEmail(token:$token){__typename ...Done ...Problem}}' + done + member + problem,
  signIn: 'mutation signIn($email:String!$password:String!){signIn(input:{email:$email password:$password}){__typename ...SignedIn ...Problem}}' + problem + signedIn,
  signInWithCode: 'mutation signInWithCode($backup:Boolean$code:String!){signInWithCode(input:{backup:$backup code:$code}){__typename ...SignedIn ...Problem}}' + problem + signedIn,
  beginPasskeySignIn: 'mutation beginPasskeySignIn{beginPasskeySignIn{__typename ...PasskeyOptions ...Problem}}' + passkeyOptions + problem,
  signInWithPasskey: 'mutation signInWithPasskey($credential:String!){signInWithPasskey(credential:$credential){__typename ...SignedIn ...Problem}}' + problem + signedIn,
  signOut: 'mutation signOut{signOut{__typename ...Done ...Problem}}' + done + member + problem,
  requestPasswordReset: 'mutation requestPasswordReset($email:String!){requestPasswordReset(email:$email){__typename ...Done ...Problem}}' + done + member + problem,
  resetPassword: 'mutation resetPassword($newPassword:String!$token:String!){resetPassword(input:{newPassword:$newPassword token:$token}){__typename ...Done ...Problem}}' + done + member + problem,
  changePassword: 'mutation changePassword($currentPassword:String!$newPassword:String!){changePassword(input:{currentPassword:$currentPassword newPassword:$newPassword}){__typename ...Done ...Problem}}' + done + member + problem,
  changeEmail: 'mutation changeEmail($newEmail:String!$password:String!){changeEmail(input:{newEmail:$newEmail password:$password}){__typename ...Done ...Problem}}' + done + member + problem,
  updateProfile: 'mutation updateProfile($language:Language$name:String){updateProfile(input:{language:$language name:$name}){__typename ...User ...Problem}}' + problem + user,
  beginSecondFactor: 'mutation beginSecondFactor($password:String!){beginSecondFactor(password:$password){__typename ...SecondFactorSetup ...Problem}}' + problem + secondFactorSetup,
  confirmSecondFactor: 'mutation confirmSecondFactor($code:String!){confirmSecondFactor(code:$code){__typename ...Done ...Problem}}' + done + member + problem,
  disableSecondFactor: 'mutation disableSecondFactor($code:String!$password:String!){disableSecondFactor(input:{code:$code password:$password}){__typename ...Done ...Problem}}' + done + member + problem,
  renewBackupCodes: 'mutation renewBackupCodes($password:String!){renewBackupCodes(password:$password){__typename ...BackupCodes ...Problem}}' + backupCodes + problem,
  revokeSession: 'mutation revokeSession($id:ID!){revokeSession(id:$id){__typename ...Done ...Problem}}' + done + member + problem,
  revokeOtherSessions: 'mutation revokeOtherSessions{revokeOtherSessions{__typename ...on SessionsEnded{count}...Problem}}' + problem,
  listPasskeys: 'query listPasskeys{me{passkeys{...Passkey}}}' + passkey,
  beginPasskey: 'mutation beginPasskey($code:String$password:String!){beginPasskey(input:{code:$code password:$password}){__typename ...PasskeyOptions ...Problem}}' + passkeyOptions + problem,
  addPasskey: 'mutation addPasskey($credential:String!$name:String!){addPasskey(input:{credential:$credential name:$name}){__typename ...Passkey ...Problem}}' + passkey + problem,
  renamePasskey: 'mutation renamePasskey($id:ID!$name:String!){renamePasskey(input:{id:$id name:$name}){__typename ...Passkey ...Problem}}' + passkey + problem,
  removePasskey: 'mutation removePasskey($id:ID!$password:String!){removePasskey(input:{id:$id password:$password}){__typename ...Done ...Problem}}' + done + member + problem,
  listIdentities: 'query listIdentities{me{identities{...Identity}}}' + identity,
  removeIdentity: 'mutation removeIdentity($id:ID!$password:String!){removeIdentity(input:{id:$id password:$password}){__typename ...Done ...Problem}}' + done + member + problem,
  requestIdentityLink: 'mutation requestIdentityLink{requestIdentityLink{__typename ...Done ...Problem}}' + done + member + problem,
  linkIdentity: 'mutation linkIdentity($token:String!){linkIdentity(token:$token){__typename ...SignedIn ...Problem}}' + problem + signedIn,
  serviceStatus: 'query serviceStatus{status{...ServiceStatus}}' + announcement + incident + modelState + modelStatus + probedWay + requestShare + serviceAbsence + serviceStatus + statusUpdate + uptime + uptimeObserver + uptimePoint,
  serviceState: 'query serviceState{status{absences{...ServiceAbsence}announcements{...Announcement}generatedAt incidents{...Incident}measuredSince models{...ModelState}observers{...UptimeObserver}state}}' + announcement + incident + modelState + probedWay + requestShare + serviceAbsence + statusUpdate + uptime + uptimeObserver,
  uptime: 'query uptime($from:DateTime!$mode:ProbeMode$modelId:String!$period:HourOrDay!$protocol:Protocol$to:DateTime!){uptime(from:$from mode:$mode modelId:$modelId period:$period protocol:$protocol to:$to){...UptimePoint}}' + uptime + uptimePoint,
  listIncidents: 'query listIncidents($after:String$first:Int$modelId:String){incidents(after:$after first:$first modelId:$modelId){edges{cursor node{...Incident}}pageInfo{...PageInfo}}}' + incident + pageInfo + statusUpdate,
  listEndpoints: 'query listEndpoints($accountId:ID){account(id:$accountId){webhookEndpoints{...WebhookEndpoint}}}' + webhookEndpoint,
  createWebhookEndpoint: 'mutation createWebhookEndpoint($input:CreateWebhookEndpointInput!){createWebhookEndpoint(input:$input){__typename ...WebhookEndpointWithSecret ...Problem}}' + problem + webhookEndpoint + webhookEndpointWithSecret,
  updateWebhookEndpoint: 'mutation updateWebhookEndpoint($input:UpdateWebhookEndpointInput!){updateWebhookEndpoint(input:$input){__typename ...WebhookEndpoint ...Problem}}' + problem + webhookEndpoint,
  deleteWebhookEndpoint: 'mutation deleteWebhookEndpoint($id:ID!){deleteWebhookEndpoint(id:$id){__typename ...WebhookEndpoint ...Problem}}' + problem + webhookEndpoint,
  rotateWebhookSecret: 'mutation rotateWebhookSecret($id:ID!){rotateWebhookSecret(id:$id){__typename ...WebhookEndpointWithSecret ...Problem}}' + problem + webhookEndpoint + webhookEndpointWithSecret,
  sendTestWebhook: 'mutation sendTestWebhook($id:ID!){sendTestWebhook(id:$id){__typename ...WebhookDelivery ...Problem}}' + problem + webhookAttempt + webhookDelivery,
  replayWebhookDelivery: 'mutation replayWebhookDelivery($id:ID!){replayWebhookDelivery(id:$id){__typename ...WebhookDelivery ...Problem}}' + problem + webhookAttempt + webhookDelivery,
  listDeliveries: 'query listDeliveries($id:ID!$after:String$first:Int){node(id:$id){...on WebhookEndpoint{deliveries(after:$after first:$first){edges{cursor node{...WebhookDelivery}}pageInfo{...PageInfo}}}}}' + pageInfo + webhookAttempt + webhookDelivery,
};
