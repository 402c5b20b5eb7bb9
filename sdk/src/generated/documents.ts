// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

const accessToken = 'fragment AccessToken on AccessToken{createdAt deletedAt expiresAt id last4 lastUsedAt name prefix scopes}';
const account = 'fragment Account on Account{budget{...Budget}createdAt email id name status}';
const accountLimits = 'fragment AccountLimits on AccountLimits{addresses maxConcurrent requestsPerMinute tokensPerMinute spend{...SpendLimits}spent{...AccountSpend}timeZone}';
const accountSpend = 'fragment AccountSpend on AccountSpend{held lifetime thisMonth thisWeek today}';
const announcement = 'fragment Announcement on Announcement{body bodyVi endsAt id kind modelIds startsAt title titleVi updates{...StatusUpdate}}';
const apiKey = 'fragment ApiKey on ApiKey{addresses maxConcurrent tokensPerMinute burnLimit{...BurnLimit}createdAt deletedAt expiresAt id last4 limits{...SpendLimits}models name prefix replaces requestsPerMinute spend{...KeySpend}status}';
const backupCodes = 'fragment BackupCodes on BackupCodes{backupCodes}';
const bankAccount = 'fragment BankAccount on BankAccount{account bin name demonstration}';
const bonusStep = 'fragment BonusStep on BonusStep{basisPoints fromVnd}';
const budget = 'fragment Budget on Budget{charged expired free granted grants{...Grant}held}';
const burnLimit = 'fragment BurnLimit on BurnLimit{amount minutes}';
const createdAccessToken = 'fragment CreatedAccessToken on CreatedAccessToken{accessToken{...AccessToken}secret}';
const createdKey = 'fragment CreatedKey on CreatedKey{key{...ApiKey}secret}';
const done = 'fragment Done on Done{ok}';
const download = 'fragment Download on Download{expiresAt url}';
const grant = 'fragment Grant on Grant{amount createdAt expired expiresAt free held id kind reason spent}';
const incident = 'fragment Incident on Incident{affected cause endedAt id impact modelId startedAt updates{...StatusUpdate}}';
const invitation = 'fragment Invitation on Invitation{createdAt email expiresAt id role}';
const keySpend = 'fragment KeySpend on KeySpend{held lastUsedAt lifetime thisMonth thisWeek today}';
const ledgerEntry = 'fragment LedgerEntry on LedgerEntry{charged cost createdAt freeAfter id key{...ApiKey}latencyMs margin model outcome protocol receipt{...ReceiptLine}requestId stream clock{...PriceMoment}tier{...PromptTier}timeToFirstByteMs units{...UnitLine}upstream upstreamCost usage{...Tokens}usageSource}';
const member = 'fragment Member on Member{createdAt email id name role}';
const model = 'fragment Model on Model{agentStepsFor5Usd cacheHit{...TokenPrice}cacheWrite1h{...TokenPrice}cacheWrite5m{...TokenPrice}capabilities efforts contextWindow displayName family id input{...TokenPrice}kind markedAgentStepsFor5Usd maxOutputTokens maxPromptTokens modelId nativeProtocols perUnit{...UnitPrices}output{...TokenPrice}pricedSince priceClock{...ModelPriceClock}priceTiers{...ModelPriceTier}protocols simulated}';
const modelPriceClock = 'fragment ModelPriceClock on ModelPriceClock{exceptDates timeZone windows{...ModelPriceWindow}}';
const modelPriceTier = 'fragment ModelPriceTier on ModelPriceTier{abovePromptTokens cacheHit{...TokenPrice}cacheWrite1h{...TokenPrice}cacheWrite5m{...TokenPrice}input{...TokenPrice}output{...TokenPrice}}';
const modelPriceWindow = 'fragment ModelPriceWindow on ModelPriceWindow{cacheHit{...TokenPrice}cacheWrite1h{...TokenPrice}cacheWrite5m{...TokenPrice}days hours input{...TokenPrice}output{...TokenPrice}priceTiers{...ModelPriceTier}}';
const modelStatus = 'fragment ModelStatus on ModelStatus{days{...UptimeDay}displayName everyMinutes last7Days{...Uptime}last24Hours{...Uptime}last30Days{...Uptime}last90Days{...Uptime}measuredSince modelId requests{...RequestShare}requestsSucceeded simulated state ways{...ProbedWay}}';
const notice = 'fragment Notice on Notice{clearedAt createdAt deliveries{channel deliveredAt held nextAttemptAt problem state}facts id kind mailed}';
const noticeChannel = 'fragment NoticeChannel on NoticeChannel{createdAt deliveredAt enabled id kind kinds locale name problem target}';
const noticeSettings = 'fragment NoticeSettings on NoticeSettings{burnAmount burnMinutes keyPercent lowBalance mail muted quietFrom quietTo timeZone}';
const order = 'fragment Order on Order{bonus budget createdAt expiresAt freeAmount giftTo id invoice{...OrderInvoice}memo paidAt payment{...PaymentInstructions}payments{...OrderPayment}planId planName priceVnd receiptUrl receivedVnd status upgrades validDays}';
const orderInvoice = 'fragment OrderInvoice on OrderInvoice{issuedAt nextAt number problem state url}';
const orderPayment = 'fragment OrderPayment on OrderPayment{amountVnd bankReference bookedAt}';
const pageInfo = 'fragment PageInfo on PageInfo{endCursor hasNextPage hasPreviousPage startCursor}';
const paymentInstructions = 'fragment PaymentInstructions on PaymentInstructions{amountVnd bank{...BankAccount}memo qrPayload qrPng qrSvg}';
const plan = 'fragment Plan on Plan{budget id name onSale planId priceVnd validDays vndPerUsd}';
const priceHours = 'fragment PriceHours on PriceHours{days period timeZone}';
const priceMoment = 'fragment PriceMoment on PriceMoment{pricedAt window{...PriceHours}}';
const probedWay = 'fragment ProbedWay on ProbedWay{checkedAt latencyMs mode outcome protocol reason timeToFirstByteMs}';
const problem = 'fragment Problem on Error{code message ...on BusyError{retryAfterSeconds}...on InputError{problems{message path}}...on TooManyAttemptsError{retryAfterSeconds}}';
const promptTier = 'fragment PromptTier on PromptTier{abovePromptTokens upToPromptTokens}';
const receipt = 'fragment Receipt on Receipt{accountEmail accountName budget issuedAt number payments{...OrderPayment}planName priceVnd receivedVnd}';
const receiptLine = 'fragment ReceiptLine on ReceiptLine{amount pool pricePerMillion tokens}';
const requestShare = 'fragment RequestShare on RequestShare{count protocol succeeded}';
const secondFactorSetup = 'fragment SecondFactorSetup on SecondFactorSetup{backupCodes uri}';
const seller = 'fragment Seller on Seller{address name privacyUrl refundUrl supportEmail supportPhone taxCode termsUrl}';
const serviceAbsence = 'fragment ServiceAbsence on ServiceAbsence{from to}';
const serviceStatus = 'fragment ServiceStatus on ServiceStatus{absences{...ServiceAbsence}announcements{...Announcement}generatedAt incidents{...Incident}measuredSince models{...ModelStatus}observers{...UptimeObserver}state}';
const session = 'fragment Session on Session{createdAt current device expiresAt id ipAddress lastUsedAt userAgent}';
const signedIn = 'fragment SignedIn on SignedIn{secondFactorRequired}';
const spendLimits = 'fragment SpendLimits on SpendLimits{day lifetime month week}';
const statement = 'fragment Statement on Statement{charged closing expired granted month opening url}';
const statusUpdate = 'fragment StatusUpdate on StatusUpdate{body bodyVi createdAt id state}';
const tokenPrice = 'fragment TokenPrice on TokenPrice{usdPerMillion vndPerMillionAtBest vndPerMillionAtStarter}';
const tokens = 'fragment Tokens on Tokens{cacheHit cacheWrite1h cacheWrite5m input output}';
const topUp = 'fragment TopUp on TopUp{maxVnd minVnd plan{...Plan}}';
const unitLine = 'fragment UnitLine on UnitLine{amount count price unit}';
const unitPrices = 'fragment UnitPrices on UnitPrices{image minute search}';
const uptime = 'fragment Uptime on Uptime{down latencyMs maintenance noData ratio up}';
const uptimeDay = 'fragment UptimeDay on UptimeDay{date uptime{...Uptime}}';
const uptimeObserver = 'fragment UptimeObserver on UptimeObserver{agent measuredAt name region}';
const uptimePoint = 'fragment UptimePoint on UptimePoint{at uptime{...Uptime}}';
const usageRow = 'fragment UsageRow on UsageRow{charged cost failures keyId model outcome requests start tokens{...Tokens}}';
const user = 'fragment User on User{createdAt email emailVerified hasPassword id locale name operator secondFactor}';
const viewer = 'fragment Viewer on Viewer{accounts{id name status}scopes sessions{...Session}user{...User}}';
const webhookAttempt = 'fragment WebhookAttempt on WebhookAttempt{createdAt durationMs problem status}';
const webhookDelivery = 'fragment WebhookDelivery on WebhookDelivery{attempts{...WebhookAttempt}body createdAt deliveredAt event eventId id nextAttemptAt status}';
const webhookEndpoint = 'fragment WebhookEndpoint on WebhookEndpoint{createdAt description enabled events id url}';
const webhookEndpointWithSecret = 'fragment WebhookEndpointWithSecret on WebhookEndpointWithSecret{endpoint{...WebhookEndpoint}secret}';

/** The text of each operation. */
export const documents = {
  account: 'query account($id:ID){account(id:$id){...Account}}' + account + budget + grant,
  accountLimits: 'query accountLimits($id:ID){account(id:$id){limits{...AccountLimits}}}' + accountLimits + accountSpend + spendLimits,
  setAccountLimits: 'mutation setAccountLimits($input:AccountLimitsInput!){setAccountLimits(input:$input){__typename ...Account ...Problem}}' + account + budget + grant + problem,
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
  listNoticeChannels: 'query listNoticeChannels($accountId:ID){account(id:$accountId){noticeChannels{...NoticeChannel}}}' + noticeChannel,
  createNoticeChannel: 'mutation createNoticeChannel($input:CreateNoticeChannelInput!){createNoticeChannel(input:$input){__typename ...on CreatedNoticeChannel{channel{...NoticeChannel}signing}...Problem}}' + noticeChannel + problem,
  updateNoticeChannel: 'mutation updateNoticeChannel($input:UpdateNoticeChannelInput!){updateNoticeChannel(input:$input){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  deleteNoticeChannel: 'mutation deleteNoticeChannel($id:ID!){deleteNoticeChannel(id:$id){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  testNoticeChannel: 'mutation testNoticeChannel($id:ID!){testNoticeChannel(id:$id){__typename ...NoticeChannel ...Problem}}' + noticeChannel + problem,
  listAccessTokens: 'query listAccessTokens($accountId:ID$after:String$first:Int){account(id:$accountId){accessTokens(after:$after first:$first){edges{cursor node{...AccessToken}}pageInfo{...PageInfo}}}}' + accessToken + pageInfo,
  createAccessToken: 'mutation createAccessToken($input:CreateAccessTokenInput!){createAccessToken(input:$input){__typename ...CreatedAccessToken ...Problem}}' + accessToken + createdAccessToken + problem,
  deleteAccessToken: 'mutation deleteAccessToken($id:ID!){deleteAccessToken(id:$id){__typename ...Done ...Problem}}' + done + problem,
  createAccountExport: 'mutation createAccountExport($accountId:ID){createAccountExport(accountId:$accountId){__typename ...on AccountExport{expiresAt url}...Problem}}' + problem,
  eraseAccount: 'mutation eraseAccount($accountId:ID!$code:String$email:String!$password:String){eraseAccount(accountId:$accountId code:$code email:$email password:$password){__typename ...on AccountErased{people}...Problem}}' + problem,
  models: 'query models{models{...Model}}' + model + modelPriceClock + modelPriceTier + modelPriceWindow + tokenPrice + unitPrices,
  model: 'query model($modelId:String!){model(modelId:$modelId){...Model}}' + model + modelPriceClock + modelPriceTier + modelPriceWindow + tokenPrice + unitPrices,
  listKeys: 'query listKeys($accountId:ID$after:String$deleted:Boolean$first:Int){account(id:$accountId){keys(after:$after deleted:$deleted first:$first){edges{cursor node{...ApiKey}}pageInfo{...PageInfo}}}}' + apiKey + burnLimit + keySpend + pageInfo + spendLimits,
  createKey: 'mutation createKey($input:CreateKeyInput!){createKey(input:$input){__typename ...CreatedKey ...Problem}}' + apiKey + burnLimit + createdKey + keySpend + problem + spendLimits,
  updateKey: 'mutation updateKey($input:UpdateKeyInput!){updateKey(input:$input){__typename ...ApiKey ...Problem}}' + apiKey + burnLimit + keySpend + problem + spendLimits,
  rotateKey: 'mutation rotateKey($graceSeconds:Int$id:ID!){rotateKey(graceSeconds:$graceSeconds id:$id){__typename ...CreatedKey ...Problem}}' + apiKey + burnLimit + createdKey + keySpend + problem + spendLimits,
  deleteKey: 'mutation deleteKey($id:ID!){deleteKey(id:$id){__typename ...ApiKey ...Problem}}' + apiKey + burnLimit + keySpend + problem + spendLimits,
  listEntries: 'query listEntries($accountId:ID$after:String$filter:LedgerFilter$first:Int$orderBy:LedgerOrder){account(id:$accountId){ledger(after:$after filter:$filter first:$first orderBy:$orderBy){edges{cursor node{...LedgerEntry}}pageInfo{...PageInfo}}}}' + apiKey + burnLimit + keySpend + ledgerEntry + pageInfo + priceHours + priceMoment + promptTier + receiptLine + spendLimits + tokens + unitLine,
  entry: 'query entry($accountId:ID$requestId:String!){account(id:$accountId){ledgerEntry(requestId:$requestId){...LedgerEntry}}}' + apiKey + burnLimit + keySpend + ledgerEntry + priceHours + priceMoment + promptTier + receiptLine + spendLimits + tokens + unitLine,
  usage: 'query usage($accountId:ID$after:String$by:[UsageGroup!]$first:Int$from:DateTime$keyId:ID$model:String$outcomes:[RequestOutcome!]$period:UsagePeriod$timeZone:String$to:DateTime){account(id:$accountId){usage(after:$after by:$by first:$first from:$from keyId:$keyId model:$model outcomes:$outcomes period:$period timeZone:$timeZone to:$to){rows{...UsageRow}next}}}' + tokens + usageRow,
  budget: 'query budget($accountId:ID){account(id:$accountId){budget{...Budget}}}' + budget + grant,
  cacheSavings: 'query cacheSavings($accountId:ID$from:DateTime!){account(id:$accountId){cacheSavings(from:$from)}}',
  createLedgerDownload: 'mutation createLedgerDownload($accountId:ID$filter:LedgerFilter){createLedgerDownload(accountId:$accountId filter:$filter){__typename ...Download ...Problem}}' + download + problem,
  budgetChanged: 'subscription budgetChanged($accountId:ID){budgetChanged(accountId:$accountId){...Budget}}' + budget + grant,
  ledgerAppended: 'subscription ledgerAppended($accountId:ID){ledgerAppended(accountId:$accountId){...LedgerEntry}}' + apiKey + burnLimit + keySpend + ledgerEntry + priceHours + priceMoment + promptTier + receiptLine + spendLimits + tokens + unitLine,
  shop: 'query shop{shop{open demonstration}}',
  plans: 'query plans($all:Boolean){plans(all:$all){...Plan}}' + plan,
  order: 'query order($id:ID!){order(id:$id){...Order}}' + bankAccount + order + orderInvoice + orderPayment + paymentInstructions,
  receipt: 'query receipt($orderId:ID!){receipt(orderId:$orderId){...Receipt}}' + orderPayment + receipt,
  listOrders: 'query listOrders($accountId:ID$after:String$first:Int){account(id:$accountId){orders(after:$after first:$first){edges{cursor node{...Order}}pageInfo{...PageInfo}}}}' + bankAccount + order + orderInvoice + orderPayment + pageInfo + paymentInstructions,
  createOrder: 'mutation createOrder($input:CreateOrderInput!){createOrder(input:$input){__typename ...Order ...Problem}}' + bankAccount + order + orderInvoice + orderPayment + paymentInstructions + problem,
  cancelOrder: 'mutation cancelOrder($id:ID!){cancelOrder(id:$id){__typename ...Order ...Problem}}' + bankAccount + order + orderInvoice + orderPayment + paymentInstructions + problem,
  orderStatus: 'subscription orderStatus($id:ID!){orderStatus(id:$id){...Order}}' + bankAccount + order + orderInvoice + orderPayment + paymentInstructions,
  seller: 'query seller{seller{...Seller}}' + seller,
  company: 'query company($accountId:ID){account(id:$accountId){company{address name taxCode}id}}',
  saveCompany: 'mutation saveCompany($accountId:ID!$input:CompanyInput){saveCompany(accountId:$accountId input:$input){__typename ...on Account{company{address name taxCode}id}...Problem}}' + problem,
  statements: 'query statements($accountId:ID$first:Int){account(id:$accountId){id statements(first:$first){...Statement}}}' + statement,
  statement: 'query statement($accountId:ID$month:String!){account(id:$accountId){id statement(month:$month){...Statement}}}' + statement,
  bonusSteps: 'query bonusSteps{bonusSteps{...BonusStep}}' + bonusStep,
  topUp: 'query topUp{topUp{...TopUp}}' + plan + topUp,
  redeemCode: 'mutation redeemCode($accountId:ID$code:String!){redeemCode(accountId:$accountId code:$code){__typename ...on CodeRedeemed{again amount grantId}...Problem}}' + problem,
  me: 'query me{me{...Viewer}}' + session + user + viewer,
  signInMethods: 'query signInMethods{signInMethods{passwords providers{id name}}}',
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
